"""Say what a broker asks of its place in a group: alone, or one of several under a controller."""

from collections.abc import Awaitable
from typing import Protocol

from regent_engine import Command

from backend.remoting.bodies.controller import HaStatusBody
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.acknowledgement import Outcome, Release


class Membership(Protocol):
    """This broker's place in its group; every broker has one."""

    @property
    def own_id(self) -> int:
        """Give the id that stays through all roles."""

    @property
    def role_id(self) -> int:
        """Give the id that the role brings: 0 for the master, its own for a replica."""

    @property
    def ha_address(self) -> str | None:
        """Give where replicas get the log; None unless this broker serves replicas as master."""

    @property
    def epoch(self) -> int | None:
        """Give the epoch that this broker serves as master; None unless a controller gave one."""

    @property
    def safe_position(self) -> int:
        """Give up to where no crash takes the log back."""

    @property
    def appends_commits(self) -> bool:
        """Tell whether a committed offset is in the log before the commit is answered (D14)."""

    @property
    def keeps_room(self) -> bool:
        """Tell whether orders are kept on a full disk: no other broker has to take them too."""

    def describe_ha(self) -> HaStatusBody:
        """Say how this broker's log is replicated (907)."""

    def check(self, required: RequiredRole) -> None:
        """Pass a request that this broker may serve in its role.

        Raises:
            Refusal: it may not.
        """

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Have the master answer a request, as `PassingOn.take`; None if this broker has to.

        Raises:
            Refusal: another broker passed it on, and this one is not the master.
        """

    def appended(self) -> None:
        """Hear that the log has grown, and that readers do not see it yet."""

    def begin_topic(self, name: str) -> None:
        """Hear that a topic is about to be made that this broker does not know."""

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position may be acknowledged, or never will be."""

    async def outcome(self, position: int) -> Outcome:
        """Tell what the other brokers of the group make of the log up to a position."""

    async def stored(self, position: int, reply: bytes, late_reply: bytes) -> bytes:
        """Give the answer once the log up to a position may be acknowledged, or what it is then.

        The late reply says that the disk needs longer.

        Raises:
            Refusal: the disk failed, and it is not known whether the message survives.
        """

    async def hand_over(self, epoch: int) -> None:
        """Have what was taken confirmed, and take no more: another master is to be elected.

        Raises:
            Refusal: this broker is not the master of that epoch, or too much is unconfirmed.
        """

    def flush_failed(self) -> None:
        """Hear that it is not known what is on the disk."""

    def hurry(self) -> None:
        """Report the state of this broker to the controller now, before the next heartbeat."""
