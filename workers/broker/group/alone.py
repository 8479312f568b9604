"""The membership of a broker without a controller: the master of a group of one."""

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Final

from regent_engine import Command

from backend.remoting.bodies.controller import HaClientBody, HaStatusBody
from backend.remoting.headers.replication import HaInfoHeader, LeastIdHeader
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.group.own_locks import OwnLocks
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.acknowledgement import Outcome, Release

if TYPE_CHECKING:
    from workers.broker.broker import Broker

_OUTCOMES: Final = {
    True: Outcome.CONFIRMED,
    False: Outcome.FLUSH_FAILED,
    None: Outcome.UNFLUSHED,
}


class Alone(OwnLocks):
    """The membership of a broker without a controller; data on its disk is safe."""

    decisions = None
    epoch = None
    appends_commits = keeps_room = True

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker

    @property
    def own_id(self) -> int:
        """Return the id of the settings."""
        return self._broker.settings.broker_id

    @property
    def role_id(self) -> int:
        """Return the id of the settings: there is no other role."""
        return self._broker.settings.broker_id

    @property
    def ha_address(self) -> str | None:
        """Return the address for replicas: there is none."""
        return None

    @property
    def safe_position(self) -> int:
        """Return the position up to which the log is on the disk."""
        return self._broker.store.flushed_position

    def describe_ha(self) -> HaStatusBody:
        """Describe the master of a group of one."""
        broker = self._broker
        host, port = broker.store_host
        end = broker.store.max_position
        own = HaClientBody(
            master_address=f"{host}:{port}",
            max_offset=end,
            master_flush_offset=broker.store.flushed_position,
        )
        return HaStatusBody(is_master=True, max_position=end, client=own)

    def figures(self) -> dict[str, str | int]:
        """Return nothing: what there is to say is in other answers."""
        return {}

    def check(self, required: RequiredRole) -> None:
        """Accept all requests except those for a broker with a controller.

        Raises:
            Refusal: only a controller sends this request, and this broker has none.
        """
        if required is RequiredRole.MEMBER:
            raise _not_controlled()

    def pass_on(self, _command: Command) -> Awaitable[bytes | None] | None:
        """Answer every request here."""
        return None

    def appended(self) -> None:
        """Do nothing: readers see the log immediately."""

    def begin_topic(self, name: str) -> None:
        """Let the topic begin empty."""
        self._broker.changes.restart_topic(name)

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position is on the disk, or is late or lost."""
        self._broker.flusher.when_durable_in_time(
            position, partial(_release, release), timeout_s=self._flush_timeout_s
        )

    async def outcome(self, _position: int) -> Outcome:
        """Confirm immediately: there is no other broker to wait for."""
        return Outcome.CONFIRMED

    async def stored(self, position: int, reply: bytes, late_reply: bytes) -> bytes:
        """Return the answer immediately, or after the flush if the settings require it.

        Raises:
            Refusal: the disk failed, and it is unknown whether the message is stored.
        """
        broker = self._broker
        if broker.settings.flush_mode == "async":
            return reply
        durable = await broker.flusher.durable(position, timeout_s=self._flush_timeout_s)
        if durable is None:
            return late_reply
        if not durable:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "a flush to the disk failed")
        return reply

    async def hand_over(self, _epoch: int) -> None:
        """Refuse: no other broker could be elected.

        Raises:
            Refusal: always.
        """
        raise _not_controlled()

    def flush_failed(self) -> None:
        """Do nothing: no other broker takes over."""

    def take_least(self, _sent: LeastIdHeader) -> None:
        """Do nothing: this broker is its whole group."""

    async def take_master(self, _sent: HaInfoHeader) -> None:
        """Do nothing: this broker is the master."""

    def hurry(self) -> None:
        """Do nothing: no controller elects this broker."""

    @property
    def _flush_timeout_s(self) -> float:
        return self._broker.settings.flush_timeout_ms / 1000


def _release(release: Release, durable: bool | None) -> None:  # noqa: FBT001 - as the flusher calls
    release(_OUTCOMES[durable])


def _not_controlled() -> Refusal:
    return Refusal(ResponseCode.SYSTEM_ERROR, "this broker is not in controller mode")
