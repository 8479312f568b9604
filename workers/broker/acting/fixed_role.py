"""The common part of the members of a group without a controller (control-plane.md 5)."""

from collections.abc import Iterable
from typing import ClassVar

from backend.remoting.response_code import ResponseCode
from workers.broker.acting.lock_quorum import LockQuorum
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole


class FixedRole:
    """A membership whose role is in the settings."""

    epoch: ClassVar[int | None] = None
    # As on a broker alone: the master writes the commit before it answers.
    appends_commits: ClassVar[bool] = True
    # The log of every member must store an order.
    keeps_room: ClassVar[bool] = False

    def __init__(self, broker: Broker) -> None:
        """Be offline: clients find this broker once it has registered."""
        self._broker = broker
        self.is_online = False
        self.not_online_reason = ""
        self.members: dict[int, str] = {}
        """The living members by id, by the last poll of a name server."""

        self.quorum = LockQuorum(broker, self._find_others)
        self.lock, self.unlock = self.quorum.lock, self.quorum.unlock

    def _find_others(self) -> Iterable[str]:
        """Return the addresses of the other living members."""
        own_id = self.own_id
        return [address for broker_id, address in self.members.items() if broker_id != own_id]

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

    def begin_topic(self, name: str) -> None:
        """Do nothing: the log shows which messages of a former topic are deleted."""

    async def hand_over(self, _epoch: int) -> None:
        """Refuse: roles are fixed here.

        Raises:
            Refusal: always.
        """
        raise _not_controlled()

    def hurry(self) -> None:
        """Do nothing: no controller elects this broker."""

    def _check_uncontrolled(self, required: RequiredRole) -> None:
        if required is RequiredRole.MEMBER:
            raise _not_controlled()


def _not_controlled() -> Refusal:
    return Refusal(ResponseCode.SYSTEM_ERROR, "this broker is not in controller mode")
