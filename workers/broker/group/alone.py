"""The membership of a broker without a controller: the master of a group of one."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from regent_engine import Command

from backend.remoting.bodies.controller import HaClientBody, HaStatusBody
from backend.remoting.headers.replication import HaInfoHeader, LeastIdHeader
from workers.broker.group.own_disk import stored_on_disk, when_on_disk
from workers.broker.group.own_locks import OwnLocks
from workers.broker.group.required_role import RequiredRole
from workers.broker.group.uncontrolled import Uncontrolled
from workers.broker.replication.acknowledgement import Outcome, Release

if TYPE_CHECKING:
    from workers.broker.broker import Broker


class Alone(OwnLocks, Uncontrolled):
    """The membership of a broker without a controller; data on its disk is safe."""

    decisions = None
    keeps_room = True
    escapes = None

    @property
    def hears_appends(self) -> bool:
        """Return False: no other broker waits for messages."""
        return False

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker

    @property
    def ha_address(self) -> str | None:
        """Return the address for replicas: there is none."""
        return None

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
        self._check_uncontrolled(required)

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
        when_on_disk(self._broker, position, release)

    async def outcome(self, _position: int) -> Outcome:
        """Confirm immediately: there is no other broker to wait for."""
        return Outcome.CONFIRMED

    async def stored(self, position: int, reply: bytes, late_reply: bytes) -> bytes:
        """Return the answer immediately, or after the flush if the settings require it.

        Raises:
            Refusal: the disk failed, and it is unknown whether the message is stored.
        """
        return await stored_on_disk(self._broker, position, reply, late_reply)

    def flush_failed(self) -> None:
        """Do nothing: no other broker takes over."""

    def take_least(self, _sent: LeastIdHeader) -> None:
        """Do nothing: this broker is its whole group."""

    async def take_master(self, _sent: HaInfoHeader) -> None:
        """Do nothing: this broker is the master."""
