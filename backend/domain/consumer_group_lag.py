"""Say how far a consumer group is behind, in messages and in time, and who of it is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class GroupState(StrEnum):
    """Say whether somebody of a group is connected."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    UNKNOWN = "unknown"


class QueueKind(StrEnum):
    """Say what a group reads from a queue: what was sent, or what it failed to handle before."""

    NORMAL = "normal"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class QueueLag:
    """Hold how far a group is in one queue.

    `committed` is where it goes on, `None` where it never committed; `end` is the offset of the
    next message. `waiting_ms` is the age of the oldest message that it has not consumed, by its
    store time and the broker's clock, 0 when there is none and `None` when nobody knows.
    `consumed_at_ms` is when the last consumed message was stored. `owner` is the client that reads
    the queue, `None` when nobody does or it is not known.
    """

    group_name: str
    topic: str
    queue_id: int
    kind: QueueKind
    committed: int | None
    end: int
    waiting_ms: int | None
    consumed_at_ms: int | None
    owner: str | None = None

    @property
    def lag(self) -> int | None:
        """Count the messages that are left to read; None when it never committed."""
        if self.committed is None:
            return None if self.end else 0
        return max(0, self.end - self.committed)

    @property
    def key(self) -> tuple[str, str, int]:
        """Order queues as lists show them."""
        return self.topic, self.group_name, self.queue_id


@dataclass(frozen=True, slots=True)
class LagTotal:
    """Hold the lag of many queues; what is not known is counted, never added as zero (D21)."""

    message_count: int | None
    waiting_ms: int | None
    is_complete: bool


def add_up(queues: Sequence[QueueLag], *, is_complete: bool) -> LagTotal:
    """Add up queues: messages are summed, the age is that of the oldest.

    `is_complete` says whether these are all queues of the group, as far as brokers answered.
    """
    lags = [one.lag for one in queues]
    known = [lag for lag in lags if lag is not None]
    behind = [one.waiting_ms for one in queues if one.lag != 0]
    ages = [age for age in behind if age is not None]
    is_whole = is_complete and len(known) == len(lags) and len(ages) == len(behind)
    if not known:
        # A group without a queue is behind in nothing; one whose queues nobody told is unknown.
        nothing = 0 if is_whole else None
        return LagTotal(nothing, nothing, is_whole)
    oldest = max(ages, default=None if behind else 0)
    return LagTotal(sum(known), oldest, is_whole)


def state_of(member_count: int, *, is_complete: bool) -> GroupState:
    """Tell whether a group is there; a broker that did not tell may know of a member."""
    if member_count:
        return GroupState.ACTIVE
    return GroupState.INACTIVE if is_complete else GroupState.UNKNOWN
