"""Count by key, and compute the growth in the last minute, hour and day, in bounded memory.

Counters only grow. The figure of a time span is the growth since a snapshot of its beginning. A
snapshot is a copy of a few arrays, so ten thousand topics need no loop.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

KEY_COUNT_MAX: Final = 20_000
"""Limit of each kind. Beyond it, keys without a count for a day are dropped. If there are none, new
keys are not counted, so that invalid names can't fill the memory."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time span, and the interval of its snapshots, in milliseconds."""

    interval_ms: int
    count: int


MINUTE: Final = Span(10_000, 6)
HOUR: Final = Span(600_000, 6)
DAY: Final = Span(3_600_000, 24)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    at_ms: int
    columns: tuple["array[int]", ...]

    def read(self, slot: int) -> Iterator[int]:
        """Return the former value of each column; a key that was added later had 0."""
        return (column[slot] if slot < len(column) else 0 for column in self.columns)


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of each column of a key, and the time of it in milliseconds."""

    amounts: tuple[int, ...]
    elapsed_ms: int


class Tally:
    """Counters by key, with several columns each, and snapshots of the last day."""

    def __init__(
        self, column_count: int, started_at_ms: int, *, key_count_max: int = KEY_COUNT_MAX
    ) -> None:
        """Begin with nothing counted."""
        self._columns = tuple(array("q") for _ in range(column_count))
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._key_count_max, self._is_full = key_count_max, False
        first = _Snapshot(started_at_ms, tuple(array("q") for _ in range(column_count)))
        self._snapshots = {span: deque([first], maxlen=span.count) for span in (MINUTE, HOUR, DAY)}

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, key: str, *amounts: int) -> None:
        """Count more."""
        slot = self._find_or_add(key)
        if slot is not None:
            for column, amount in zip(self._columns, amounts, strict=True):
                column[slot] += amount

    def put(self, key: str, *totals: int) -> None:
        """Take over counters of another owner."""
        slot = self._find_or_add(key)
        if slot is not None:
            for column, total in zip(self._columns, totals, strict=True):
                column[slot] = total

    def forget(self, is_gone: Callable[[str], bool]) -> None:
        """Drop keys; a new key of the same name starts at 0."""
        for key in [key for key in self._slots if is_gone(key)]:
            slot = self._slots.pop(key)
            kept = (one.columns for snapshots in self._snapshots.values() for one in snapshots)
            for columns in (self._columns, *kept):
                for column in columns:
                    if slot < len(column):
                        column[slot] = 0
            self._free.append(slot)

    def sample(self, now_ms: int) -> None:
        """Take the due snapshots; called about every ten seconds."""
        self._is_full = False
        taken: _Snapshot | None = None
        for span, snapshots in self._snapshots.items():
            # After the clock was set back, the snapshots start again.
            if not 0 <= now_ms - snapshots[-1].at_ms < span.interval_ms:
                taken = taken or _Snapshot(now_ms, tuple(column[:] for column in self._columns))
                snapshots.append(taken)

    def growth(self, key: str, span: Span, now_ms: int) -> Growth | None:
        """Return the growth of a key within a span, or since the start; None for an unknown key."""
        slot = self._slots.get(key)
        if slot is None:
            return None
        first = self._snapshots[span][0]
        former = first.read(slot)
        amounts = tuple(
            column[slot] - old for column, old in zip(self._columns, former, strict=True)
        )
        return Growth(amounts, max(0, now_ms - first.at_ms))

    def _find_or_add(self, key: str) -> int | None:
        slot = self._slots.get(key)
        if slot is not None:
            return slot
        if len(self._slots) >= self._key_count_max and not self._make_room():
            return None
        if self._free:
            slot = self._free.pop()
        else:
            slot = len(self._columns[0])
            for column in self._columns:
                column.append(0)
        self._slots[key] = slot
        return slot

    def _make_room(self) -> bool:
        """Drop keys that were not counted for a day; checked once between two samples."""
        if not self._is_full:
            oldest = self._snapshots[DAY][0]
            idle = {
                key
                for key, slot in self._slots.items()
                if all(
                    column[slot] == old
                    for column, old in zip(self._columns, oldest.read(slot), strict=True)
                )
            }
            self.forget(idle.__contains__)
            self._is_full = len(self._slots) >= self._key_count_max
        return not self._is_full
