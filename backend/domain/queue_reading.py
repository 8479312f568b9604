"""Describe the reports of brokers about a group at the queues of a topic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Hold a client of a consumer group, and its address."""

    client_id: str
    address: str
    language: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class OnlineGroup:
    """Hold the connected members of a group at a broker, and their expressions by topic."""

    members: tuple[GroupMember, ...]
    subscriptions: Mapping[str, str]
    is_broadcasting: bool
    consume_type: str = ""
    starts_from: str = ""
    expression_types: Mapping[str, str] = field(default_factory=dict)
    """The expression type of each topic; a missing type means tags."""

    @property
    def topics(self) -> frozenset[str]:
        """Return the topics that the group reads."""
        return frozenset(self.subscriptions)


@dataclass(frozen=True, slots=True)
class Unread:
    """Hold the numbers of messages that a group has not read of one queue.

    `lag` counts the messages in the queue. `expired` counts messages that were deleted before the
    group read them; they can't be read any more. `ahead` is the number of messages by which the
    committed offset is beyond the end of the queue.
    """

    lag: int
    expired: int = 0
    ahead: int = 0


def count_unread(committed: int | None, *, begin: int | None, end: int | None) -> Unread | None:
    """Count the messages that a group has not read; None if an offset is unknown.

    Only this and `logical_queue.reading`, for offsets with gaps, subtract offsets for a lag. A
    negative offset of a broker means unknown. A queue that begins after its end is empty.
    """
    if end is None or end < 0 or committed is None or committed < 0:
        return None
    if committed >= end:
        return Unread(0, ahead=committed - end)
    if begin is None or begin < 0:
        return None
    first = min(begin, end)
    return Unread(end - max(committed, first), expired=max(0, first - committed))


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """Hold the progress of a group in a queue: the committed offset, and the ends of the queue.

    `begin` is the offset of the oldest message in the queue, None if unknown.
    """

    topic: str
    queue_id: int
    committed: int
    end: int
    consumed_at_ms: int | None = None
    """The store time of the last consumed message, by the clock of the broker."""
    begin: int | None = 0

    @property
    def unread(self) -> Unread | None:
        """Count the unread and the expired messages; None if unknown."""
        return count_unread(self.committed, begin=self.begin, end=self.end)

    @property
    def lag(self) -> int | None:
        """Count the unread messages; None if unknown."""
        return None if self.unread is None else self.unread.lag

    @property
    def expired_count(self) -> int:
        """Count the messages that expired unread; 0 if unknown."""
        return 0 if self.unread is None else self.unread.expired


def add_lags(progress: Sequence[QueueProgress]) -> int | None:
    """Add up the lags of queues; None if one is unknown (D21)."""
    lags = [one.lag for one in progress]
    known = [lag for lag in lags if lag is not None]
    return sum(known) if len(known) == len(lags) else None


@dataclass(frozen=True, slots=True)
class QueueReader:
    """Hold the time in ms since a group last used a queue; None if it never did.

    `advanced_ms` is the time since its committed offset last changed.
    """

    pulled_ms: int | None = None
    committed_ms: int | None = None
    advanced_ms: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class QueueReaders:
    """Hold the readers of a topic by queue, and how long the broker has observed them."""

    is_gate_open: bool
    observed_for_ms: int
    readers: Mapping[int, QueueReader]
