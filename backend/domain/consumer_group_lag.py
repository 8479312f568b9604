"""Say how far a consumer group is behind, in messages and in time, and who of it is there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from backend.domain.queue_reading import Unread, count_unread


class GroupState(StrEnum):
    """Whether a member of a group is connected, according to the brokers that answered."""

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

    `committed` is where it goes on, `None` where it never committed; `begin` is the offset of the
    oldest message that the queue holds, `None` where nobody knows, and `end` that of the next
    message. `waiting_ms` is the age of the oldest message that it has not consumed, by its
    store time and the broker's clock, 0 when there is none and `None` when nobody knows.
    `consumed_at_ms` is when the last consumed message was stored. `owner` is the client that reads
    the queue, `None` when nobody does or it is not known.
    """

    broker_group_name: str
    topic: str
    queue_id: int
    kind: QueueKind
    committed: int | None
    end: int
    waiting_ms: int | None
    consumed_at_ms: int | None
    owner: str | None = None
    begin: int | None = 0

    @property
    def unread(self) -> Unread | None:
        """Count what is left to read and what is gone; None when it never committed."""
        if self.committed is None:
            return Unread(0) if self.end == 0 else None
        return count_unread(self.committed, begin=self.begin, end=self.end)

    @property
    def lag(self) -> int | None:
        """Count the messages that are left to read; None is not known."""
        return None if self.unread is None else self.unread.lag

    @property
    def expired_count(self) -> int | None:
        """Count the messages that were deleted before the group read them; None is not known."""
        return None if self.unread is None else self.unread.expired

    @property
    def ahead_count(self) -> int | None:
        """Count by how many messages the group's offset is beyond the end; None is not known."""
        return None if self.unread is None else self.unread.ahead

    @property
    def key(self) -> tuple[str, str, int]:
        """Order queues as lists show them."""
        return self.topic, self.broker_group_name, self.queue_id

    def kept_by_members(self) -> "QueueLag":
        """Leave out what a broker has of a broadcasting group: offsets of former times, if any."""
        return replace(self, committed=None, waiting_ms=None, consumed_at_ms=None)


@dataclass(frozen=True, slots=True)
class LagTotal:
    """Hold the lag of many queues; what is not known is counted, never added as zero (D21).

    `expired_count` counts the messages that were deleted before the group read them. They are no
    part of `message_count`, since nobody can read them. A broadcasting group has no lag that a
    broker could tell: its members keep their own offsets, so the total is not applicable.
    """

    message_count: int | None
    waiting_ms: int | None
    is_complete: bool
    expired_count: int | None = 0
    is_applicable: bool = True


NO_LAG: Final = LagTotal(None, None, is_complete=True, expired_count=None, is_applicable=False)
"""That of a broadcasting group."""


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
        return LagTotal(nothing, nothing, is_whole, nothing)
    oldest = max(ages, default=None if behind else 0)
    expired = sum(one.expired_count or 0 for one in queues)
    return LagTotal(sum(known), oldest, is_whole, expired)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Count the broker groups whose masters told what they know, of those that may know something.

    What some do not tell makes an answer partial, and never unknown as long as others tell.
    """

    answered_count: int
    asked_count: int


def state_of(member_count: int, coverage: Coverage) -> GroupState:
    """Tell whether a group is there, as far as brokers told; unknown is that none of them did.

    Where the coverage is partial, a broker that did not tell may know of a member.
    """
    if member_count:
        return GroupState.ACTIVE
    if coverage.asked_count and not coverage.answered_count:
        return GroupState.UNKNOWN
    return GroupState.INACTIVE
