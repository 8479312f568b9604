"""Hold answers until enough replicas of a fixed group have the data (storage-and-ha.md 9.6)."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from workers.broker.replication.acknowledgement import Outcome, Release

NONE_NEEDED: Final = 1
"""The master itself is one of the needed brokers."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The numbers of brokers, this one included, that must have a message."""

    count: int
    count_min: int
    is_lowered: bool
    """Whether fewer are enough while fewer are in sync, but never less than the least count."""

    def needed(self, in_sync_count: int) -> int:
        """Return how many brokers must have a message while so many are in sync."""
        if not self.is_lowered:
            return self.count
        return max(min(self.count, in_sync_count), self.count_min)


class ReplicaAcknowledgements:
    """The waits of one master; all methods belong to the loop's thread."""

    def __init__(self, *, timeout_ms: int, now_ms: Callable[[], int]) -> None:
        self._timeout_ms, self._now_ms = timeout_ms, now_ms
        self._waiting: deque[tuple[int, int, Release]] = deque()

    def wait(self, position: int, release: Release) -> None:
        """Call back once enough brokers have the log up to a position, or when it is too late."""
        self._waiting.append((position, self._now_ms() + self._timeout_ms, release))

    def advance(self, own_position: int, held: Iterable[int], needed_count: int) -> None:
        """Release the waits for positions that this broker and enough replicas have.

        `held` are the ends of the logs of the connected replicas.
        """
        safe_position = own_position
        if needed_count > NONE_NEEDED:
            ends = sorted(held, reverse=True)
            others = needed_count - 1
            safe_position = min(own_position, ends[others - 1] if len(ends) >= others else 0)
        while self._waiting and self._waiting[0][0] <= safe_position:
            self._waiting.popleft()[2](Outcome.CONFIRMED)

    def expire(self) -> None:
        """Release the waits whose time has passed: their messages are stored here."""
        now_ms = self._now_ms()
        while self._waiting and self._waiting[0][1] <= now_ms:
            self._waiting.popleft()[2](Outcome.LATE)

    def end(self, outcome: Outcome) -> None:
        """Release all waits."""
        waiting, self._waiting = self._waiting, deque()
        for _, _, release in waiting:
            release(outcome)
