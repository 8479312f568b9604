"""Compute the offsets of one segment of a logical queue (logical-queues.md 2.1, 3, 4).

A segment is a range of one physical queue. Offsets are 64-bit integers, and results are kept in
that range. No function here raises an error for any such value.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)
UNDECIDED: Final = -1
"""The logical start of a segment whose first offset is not decided yet."""

OPEN: Final = -1
"""The physical end of a segment that takes messages, or whose end is unknown."""

UNKNOWN_TIME: Final = -1
BLOCK_SIZE: Final = 10_000


class SegmentStatus(StrEnum):
    """Name what clients can do with a segment."""

    UNDECIDED = "undecided"
    NORMAL = "normal"
    READ_ONLY = "read_only"
    EXPIRED = "expired"


class OffsetMode(StrEnum):
    """Name how the first offset of a new segment follows the last one (logical-queues.md 4.2)."""

    CONTIGUOUS = "contiguous"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class QueueBounds:
    """Hold the first offset of a physical queue, and the offset after its last message."""

    min_offset: int
    max_offset: int

    @property
    def is_empty(self) -> bool:
        """Return whether the queue holds no message."""
        return self.min_offset >= self.max_offset or self.max_offset == 0


@dataclass(frozen=True, slots=True)
class QueueSegment:
    """Hold one range of a physical queue, and the logical offset where it begins."""

    generation: int
    broker_group_name: str
    queue_id: int
    logical_start: int = 0
    physical_start: int = 0
    physical_end: int = OPEN
    first_stored_ms: int = UNKNOWN_TIME
    last_stored_ms: int = UNKNOWN_TIME

    @property
    def is_decided(self) -> bool:
        """Return whether the logical start is decided."""
        return self.logical_start >= 0

    @property
    def is_ended(self) -> bool:
        """Return whether the end is recorded; an ended segment can be empty."""
        return self.physical_end >= 0 and self.physical_end >= self.physical_start

    @property
    def delta(self) -> int:
        """Return the difference between logical and physical offsets."""
        return _clamped(self.logical_start - self.physical_start)

    @property
    def logical_end(self) -> int:
        """Return the logical offset after the last recorded slot; the start of an open segment."""
        if not self.is_ended:
            return self.logical_start
        return _clamped(self.logical_start + self.physical_end - self.physical_start)

    @property
    def place(self) -> tuple[str, int]:
        """Return the physical queue: the broker group and the queue id."""
        return self.broker_group_name, self.queue_id

    def to_logical_strict(self, physical_offset: int) -> int:
        """Return the logical offset of a physical one; the segment must be decided.

        Offsets before the segment give its start.
        """
        if physical_offset < self.physical_start:
            return self.logical_start
        return _clamped(self.logical_start + physical_offset - self.physical_start)

    def to_logical_loose(self, physical_offset: int) -> int:
        """Return the logical offset within the recorded end, or -1 for an undecided segment."""
        if not self.is_decided:
            return UNDECIDED
        if self.physical_start <= self.physical_end < physical_offset:
            return self.logical_end
        return self.to_logical_strict(physical_offset)

    def to_physical(self, logical_offset: int) -> int:
        """Return the physical offset of a logical one; it may be outside of the segment."""
        return _clamped(logical_offset - self.logical_start + self.physical_start)

    def status(self, *, is_last: bool, bounds: QueueBounds | None = None) -> SegmentStatus:
        """Return what clients can do; a queue with unknown bounds is not expired."""
        if not self.is_decided:
            return SegmentStatus.UNDECIDED
        if is_last:
            return SegmentStatus.NORMAL
        if bounds is not None and bounds.is_empty:
            return SegmentStatus.EXPIRED
        return SegmentStatus.READ_ONLY

    def __str__(self) -> str:
        end = self.physical_end if self.is_ended else "-"
        return (
            f"[g{self.generation} {self.broker_group_name}:q{self.queue_id}"
            f" L{self.logical_start} S{self.physical_start} E{end}]"
        )


def block_round_up(offset: int, block_size: int = BLOCK_SIZE) -> int:
    """Return the first offset of the block after a jump of half a block to one and a half.

    The result may be more than 64 bits hold: then no block is left.
    """
    block, rest = divmod(offset, block_size)
    return (block + (1 if rest < block_size // 2 else 2)) * block_size


def _clamped(offset: int) -> int:
    return max(INT64_MIN, min(INT64_MAX, offset))
