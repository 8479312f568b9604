"""Say where a consumer group shall go on reading a queue, and what that skips or repeats."""

from dataclasses import dataclass
from enum import StrEnum


class Position(StrEnum):
    """Say where a group shall go on; `group` is where another group is."""

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
    """Hold where a group is in a queue, None if it never committed, and where it shall go on."""

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
        """Tell whether the queue holds the offset, or ends there."""
        return self.low <= self.offset <= self.high

    @property
    def _present(self) -> int:
        # A group that never committed begins where its consumers say; nothing was read before.
        return self.low if self.former is None else self.former
