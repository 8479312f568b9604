"""Describe what brokers tell of a group at the queues of a topic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Name a client of a consumer group and where it is connected from."""

    client_id: str
    address: str
    language: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class OnlineGroup:
    """Hold who of a group is connected to a broker, and what they read: topics to expressions."""

    members: tuple[GroupMember, ...]
    subscriptions: Mapping[str, str]
    is_broadcasting: bool
    consume_type: str = ""
    starts_from: str = ""
    expression_types: Mapping[str, str] = field(default_factory=dict)
    """Of each topic; not told is by tags."""

    @property
    def topics(self) -> frozenset[str]:
        """Name the topics that the group reads."""
        return frozenset(self.subscriptions)


@dataclass(frozen=True, slots=True)
class Unread:
    """Count what a group has not read of one queue.

    `lag` counts the messages that the queue holds. `expired` counts those that were deleted before
    the group read them: nobody can read them any more. `ahead` is by how many messages the group's
    offset is beyond the queue's end.
    """

    lag: int
    expired: int = 0
    ahead: int = 0


def count_unread(committed: int | None, *, begin: int | None, end: int | None) -> Unread | None:
    """Count what a group has not read; None where an offset is not known.

    The one place of the control plane where offsets are subtracted for a lag. A negative offset is
    a broker's way to say that it does not know. A queue that begins beyond its end holds nothing.
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
    """Hold how far a group is in a queue: where it goes on, and the queue's end and begin.

    `begin` is the offset of the oldest message that the queue holds, None where it is not known.
    """

    topic: str
    queue_id: int
    committed: int
    end: int
    consumed_at_ms: int | None = None
    """When the last consumed message was stored, by the broker's clock."""
    begin: int | None = 0

    @property
    def unread(self) -> Unread | None:
        """Count what is left to read, and what is gone; None is not known."""
        return count_unread(self.committed, begin=self.begin, end=self.end)

    @property
    def lag(self) -> int | None:
        """Count the messages that are left to read; None is not known."""
        return None if self.unread is None else self.unread.lag

    @property
    def expired_count(self) -> int:
        """Count the messages that expired unread, as far as that is known."""
        return 0 if self.unread is None else self.unread.expired


def add_lags(progress: Sequence[QueueProgress]) -> int | None:
    """Add up the lags of queues; None where one is not known (D21)."""
    lags = [one.lag for one in progress]
    known = [lag for lag in lags if lag is not None]
    return sum(known) if len(known) == len(lags) else None


@dataclass(frozen=True, slots=True)
class QueueReader:
    """Hold how long ago a group was last seen at a queue, in ms; None is not seen.

    `advanced_ms` is since it committed another offset than before.
    """

    pulled_ms: int | None = None
    committed_ms: int | None = None
    advanced_ms: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class QueueReaders:
    """Hold the readers of a topic's queues by queue, and for how long the broker has looked."""

    is_gate_open: bool
    observed_for_ms: int
    readers: Mapping[int, QueueReader]
