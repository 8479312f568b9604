"""Define the membership of a broker: alone, under a controller, or in a group of fixed roles."""

from collections.abc import Awaitable, Mapping
from typing import Protocol

from regent_engine import Command

from backend.remoting.bodies import LockBody, MessageQueue
from backend.remoting.bodies.controller import HaStatusBody
from backend.remoting.headers.replication import HaInfoHeader, LeastIdHeader
from workers.broker.acting.decisions import Decisions
from workers.broker.acting.escapes import Escapes
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.acknowledgement import Outcome, Release


class Membership(Protocol):
    """The membership of this broker in its group; every broker has one."""

    @property
    def own_id(self) -> int:
        """Return the own id, which does not depend on the role."""

    @property
    def role_id(self) -> int:
        """Return the id of the role: 0 for the master, the own id for a replica."""

    @property
    def ha_address(self) -> str | None:
        """Return the address for replicas; None unless this broker is a master with replicas."""

    @property
    def epoch(self) -> int | None:
        """Return the epoch of this broker as master; None without an epoch of a controller."""

    @property
    def safe_position(self) -> int:
        """Return the position up to which no crash can truncate the log."""

    @property
    def appends_commits(self) -> bool:
        """Return whether a committed offset is in the log before the commit is answered (D14)."""

    @property
    def keeps_room(self) -> bool:
        """Return whether orders are stored on a full disk: no other broker must store them too."""

    @property
    def decisions(self) -> Decisions | None:
        """Return where decisions of producers wait for the absent master; None unless this acts."""

    @property
    def escapes(self) -> Escapes | None:
        """Return the way of messages to other broker groups; None unless this may act."""

    def describe_ha(self) -> HaStatusBody:
        """Describe the replication of the log of this broker (907)."""

    def figures(self) -> dict[str, str | int]:
        """Return figures about the role for the runtime information (28); stock has none."""

    def check(self, required: RequiredRole) -> None:
        """Check that this broker may serve a request in its role.

        Raises:
            Refusal: the role does not allow the request.
        """

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Let the master answer a request, as `PassingOn.take`; None if this broker must answer.

        Raises:
            Refusal: another broker passed the request on, and this broker is not the master.
        """

    async def ask_master(self, code: int, ext: Mapping[str, str], body: bytes) -> Command:
        """Ask the master of the group on behalf of this replica; return its answer.

        Raises:
            OSError, RemotingError, TimeoutError: no master gave an answer in time.
        """

    @property
    def hears_appends(self) -> bool:
        """Return whether `appended` is urgent; otherwise it is called some milliseconds later."""

    def appended(self) -> None:
        """Called when the log has grown, before readers see the new part."""

    def begin_topic(self, name: str) -> None:
        """Called before an unknown topic is created."""

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position may be acknowledged, or if it never will be."""

    async def outcome(self, position: int) -> Outcome:
        """Return the outcome of the replication of the log up to a position."""

    async def stored(self, position: int, reply: bytes, late_reply: bytes) -> bytes:
        """Return the answer once the log up to a position may be acknowledged, or the outcome.

        The late reply means that the disk needs longer.

        Raises:
            Refusal: the disk failed, and it is unknown whether the message is stored.
        """

    async def hand_over(self, epoch: int) -> None:
        """Stop appends and wait until all data is confirmed, before another master is elected.

        Raises:
            Refusal: this broker is not the master of the epoch, or too much data is unconfirmed.
        """

    async def await_pace(self, size: int) -> None:
        """Wait until bytes of the log may be sent to a new member beside the traffic of clients.

        Raises:
            Refusal: this broker is not a master under a controller.
        """

    def flush_failed(self) -> None:
        """Called when the content of the disk is unknown."""

    async def lock(self, wish: LockBody, queues: list[MessageQueue]) -> list[MessageQueue]:
        """Lock queues for a client, perhaps with other members; return those that it has now."""

    async def unlock(self, wish: LockBody) -> None:
        """Unlock the queues of a client, also at other members if the settings say so."""

    def take_least(self, sent: LeastIdHeader) -> None:
        """Note which member of the group has the least id, as a name server says (905)."""

    async def take_master(self, sent: HaInfoHeader) -> None:
        """Note the addresses of a master that is about to serve, as it says itself (906)."""

    def give_way(self) -> None:
        """Let clients wait for a moment: a member has asked for the state, and serves next."""

    def hurry(self) -> None:
        """Report the state of this broker to the controller now, not with the next heartbeat."""
