"""What a probe sent, what it was answered and when; and what that says of an outage.

Times are seconds of the monotonic clock. A message is sent once and never again, so that each
acknowledgement stands for one copy.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

CLIENT_TIMEOUT_S = 3.0
"""How long stock's client waits for the answer of a send; it ignores later ones."""


@dataclass(slots=True)
class Send:
    """One message and what became of it."""

    number: int
    address: str
    sent_at: float
    answered_at: float | None = None
    code: int | None = None
    place: tuple[int, int] | None = None
    """The queue and the offset in it that the acknowledgement named."""

    master_address: str | None = None
    """Whose log holds it; who was asked may only have passed it on."""

    @property
    def is_acknowledged(self) -> bool:
        return self.code == 0

    @property
    def is_refused(self) -> bool:
        return self.code is not None and not self.is_acknowledged

    @property
    def is_late(self) -> bool:
        """Answered after the client has given up."""
        return self.answered_at is not None and self.answered_at - self.sent_at > CLIENT_TIMEOUT_S


@dataclass(slots=True)
class Journal:
    """All sends of one round, in the order of their times."""

    sends: list[Send] = field(default_factory=list)
    delays: list[tuple[float, float]] = field(default_factory=list)
    """When the probe itself was late with a send, and by how much."""

    def since(self, begin: float) -> Iterator[Send]:
        """Give what was sent from some moment on; asked often, so nothing before is looked at."""
        first = bisect_left(self.sends, begin, key=lambda send: send.sent_at)
        return islice(self.sends, first, None)

    def acknowledged_numbers(self) -> set[int]:
        return {send.number for send in self.sends if send.is_acknowledged}

    def longest_gap(self, begin: float, end: float) -> tuple[float, float]:
        """Give the longest time between two acknowledgements, and when it began.

        Only gaps that end after `begin` and begin before `end` count; what the last one waits for
        has not come.
        """
        times = sorted(
            send.answered_at
            for send in self.sends
            if send.is_acknowledged and send.answered_at is not None
        )
        gaps = [(after - before, before) for before, after in pairwise(times) if after > begin]
        return max((gap for gap in gaps if gap[1] < end), default=(float("inf"), begin))

    def has_acknowledgement_since(self, begin: float, *, from_other_than: str) -> bool:
        return any(
            send.is_acknowledged and send.master_address != from_other_than
            for send in self.since(begin)
        )

    def refused_count(self, begin: float) -> int:
        return sum(send.is_refused for send in self.since(begin))

    def unanswered_count(self, begin: float) -> int:
        return sum(send.code is None for send in self.since(begin))

    def longest_delay(self, begin: float, end: float) -> float:
        """Give by how much the probe was late at most, which an outage could be mistaken for."""
        return max((late for at, late in self.delays if begin <= at <= end), default=0.0)

    def lost(self, held: Collection[int]) -> list[Send]:
        """List the acknowledged messages that are not among those read back."""
        found = set(held)
        return [send for send in self.sends if send.is_acknowledged and send.number not in found]
