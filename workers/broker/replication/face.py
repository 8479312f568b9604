"""Say what the rest of a broker may know of its replication, which controller mode brings."""

from typing import Protocol

from backend.remoting.bodies.controller import HaStatusBody
from workers.broker.replication.acknowledgement import Outcome, Release
from workers.broker.replication.passing_on import PassingOn
from workers.broker.required_role import RequiredRole


class Replication(Protocol):
    """This broker as a member of its group."""

    @property
    def own_id(self) -> int:
        """Give the id that the controller gave, which stays through all roles."""

    @property
    def role_id(self) -> int:
        """Give the id that the role brings: 0 for the master, its own for a replica."""

    @property
    def ha_address(self) -> str | None:
        """Give where replicas get the log; None unless this broker is master."""

    @property
    def epoch(self) -> int | None:
        """Give the epoch that this broker serves as master; None unless it is master."""

    @property
    def passing(self) -> PassingOn:
        """Give the way of requests to the master, while that is another broker."""

    def describe_ha(self) -> HaStatusBody:
        """Say how this broker's log is replicated (907)."""

    def check(self, required: RequiredRole) -> None:
        """Pass a request that this broker may serve in its role.

        Raises:
            Refusal: it may not.
        """

    def appended(self) -> None:
        """Hear that the log has grown."""

    def when_safe(self, position: int, release: Release) -> None:
        """Call back once the log up to a position may be acknowledged, or never will be."""

    async def outcome(self, position: int) -> Outcome:
        """Tell whether the log up to a position may be acknowledged, once that is known."""

    async def safe(self, position: int, reply: bytes) -> bytes:
        """Give an answer once the log up to a position may be acknowledged, or what it is then."""

    async def hand_over(self, epoch: int) -> None:
        """Have what was taken confirmed, and take no more: another master is to be elected.

        Raises:
            Refusal: this broker is not the master of that epoch, or too much is unconfirmed.
        """

    def flush_failed(self) -> None:
        """Hear that nobody knows what is on the disk."""
