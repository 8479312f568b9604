"""Define the way of messages to other broker groups, as processors see it."""

from typing import Protocol

from regent_engine import Record

from backend.remoting.bodies.outbox import OutboxBody


class Escapes(Protocol):
    """The outbox of an acting master."""

    def take_decision(self, log_position: int) -> None:
        """Let a half message escape whose commit waits for the master."""

    def take_half(self, half: Record) -> bool:
        """Let a half message escape as one; return False if nothing may escape."""

    def withdraw(self, log_position: int) -> bool:
        """Take a half message out of the outbox; return False if it is being sent."""

    def describe(self) -> OutboxBody:
        """Describe what is in the outbox (7024)."""
