"""The common part of brokers without a controller: the settings alone say who they are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from regent_engine import Command

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole

if TYPE_CHECKING:
    from workers.broker.broker import Broker


class Uncontrolled:
    """The part of a membership that needs no controller."""

    epoch: ClassVar[int | None] = None
    # A master writes the commit before it answers.
    appends_commits: ClassVar[bool] = True

    _broker: "Broker"

    @property
    def own_id(self) -> int:
        """Return the id of the settings."""
        return self._broker.settings.broker_id

    @property
    def role_id(self) -> int:
        """Return the id of the settings: an acting master keeps its own."""
        return self._broker.settings.broker_id

    @property
    def safe_position(self) -> int:
        """Return the position up to which the log is on the disk."""
        return self._broker.store.flushed_position

    async def hand_over(self, _epoch: int) -> None:
        """Refuse: no controller elects another broker.

        Raises:
            Refusal: always.
        """
        raise _not_controlled()

    async def ask_master(self, _code: int, _ext: Mapping[str, str], _body: bytes) -> Command:
        """Refuse: only members under a controller share queues.

        Raises:
            ConnectionError: always.
        """
        raise ConnectionError("this broker is not in controller mode")

    async def await_pace(self, _size: int) -> None:
        """Refuse: members of a group of fixed roles copy the log from its beginning.

        Raises:
            Refusal: always.
        """
        raise _not_controlled()

    def give_way(self) -> None:
        """Do nothing: this broker acts for no other one."""

    def hurry(self) -> None:
        """Do nothing: no controller elects this broker."""

    def _check_uncontrolled(self, required: RequiredRole) -> None:
        """Check that a request is not one of a controller.

        Raises:
            Refusal: only a controller sends this request, and this broker has none.
        """
        if required is RequiredRole.MEMBER:
            raise _not_controlled()


def _not_controlled() -> Refusal:
    return Refusal(ResponseCode.SYSTEM_ERROR, "this broker is not in controller mode")
