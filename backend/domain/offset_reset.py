"""Compute the new offset of a consumer group in a queue, and what it skips or repeats."""

from dataclasses import dataclass
from enum import StrEnum


class Position(StrEnum):
    """Name the target of a reset; `group` means the offset of another group."""

    EARLIEST = "earliest"
    LATEST = "latest"
    TIME = "time"
    OFFSET = "offset"
    GIVEN = "given"
    GROUP = "group"


class ResetMode(StrEnum):
    """Whether consumers are notified, or the offsets of a group without consumers are written."""

    AUTO = "auto"
    ONLINE = "online"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class QueueReset:
    """Hold the committed offset of a group in a queue, None if absent, and the new offset."""

    queue_id: int
    low: int
    high: int
    former: int | None
    offset: int

    @property
    def skipped_count(self) -> int:
        """Count the messages that the group would not read."""
        return max(0, self.offset - max(self._present, self.low))

    @property
    def repeated_count(self) -> int:
        """Count the messages that the group would read again."""
        return max(0, min(self._present, self.high) - max(self.offset, self.low))

    @property
    def is_inside(self) -> bool:
        """Return whether the offset is in the queue, or at its end."""
        return self.low <= self.offset <= self.high

    @property
    def _present(self) -> int:
        # A group without a committed offset starts where its consumers say; it has read nothing
        # before.
        return self.low if self.former is None else self.former
