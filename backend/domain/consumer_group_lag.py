"""Compute the lag of a consumer group in messages and in time, and the state of the group."""

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
    """Say what a group reads from a queue: new messages, or retries."""

    NORMAL = "normal"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class QueueLag:
    """Hold the progress of a group in one queue.

    `committed` is the committed offset, `None` if the group never committed one. `begin` is the
    offset of the oldest message in the queue, `None` if unknown. `end` is the offset of the next
    message. `waiting_ms` is the age of the oldest unconsumed message, by its store time and the
    clock of the broker: 0 if there is none, `None` if unknown. `consumed_at_ms` is the store time
    of the last consumed message. `owner` is the client that reads the queue, `None` if no client
    does or if it is unknown. `counted` are the unread messages of a logical queue: its offsets can
    have gaps.
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
    counted: Unread | None = None

    @property
    def unread(self) -> Unread | None:
        """Count the unread and the expired messages; None if the group never committed."""
        if self.counted is not None:
            return self.counted
        if self.committed is None:
            return Unread(0) if self.end == 0 else None
        return count_unread(self.committed, begin=self.begin, end=self.end)

    @property
    def lag(self) -> int | None:
        """Count the unread messages; None if unknown."""
        return None if self.unread is None else self.unread.lag

    @property
    def expired_count(self) -> int | None:
        """Count the messages that were deleted before the group read them; None if unknown."""
        return None if self.unread is None else self.unread.expired

    @property
    def ahead_count(self) -> int | None:
        """Count by how many messages the offset of the group is beyond the end; None if unknown."""
        return None if self.unread is None else self.unread.ahead

    @property
    def key(self) -> tuple[str, str, int]:
        """Order queues as lists show them."""
        return self.topic, self.broker_group_name, self.queue_id

    def kept_by_members(self) -> "QueueLag":
        """Return the queue without the offsets that a broker keeps of a broadcasting group."""
        return replace(self, committed=None, waiting_ms=None, consumed_at_ms=None, counted=None)


@dataclass(frozen=True, slots=True)
class LagTotal:
    """Hold the lag of many queues; an unknown lag is never added as zero (D21).

    `expired_count` counts the messages that were deleted before the group read them. They are no
    part of `message_count`, since they can't be read any more. A broker knows no lag of a
    broadcasting group: its members keep their own offsets, so the total is not applicable.
    """

    message_count: int | None
    waiting_ms: int | None
    is_complete: bool
    expired_count: int | None = 0
    is_applicable: bool = True


NO_LAG: Final = LagTotal(None, None, is_complete=True, expired_count=None, is_applicable=False)
"""The lag of a broadcasting group."""


def add_up(queues: Sequence[QueueLag], *, is_complete: bool) -> LagTotal:
    """Add up queues: the messages are summed, the age is the highest one.

    `is_complete` says whether these are all queues of the group, as far as brokers answered.
    """
    lags = [one.lag for one in queues]
    known = [lag for lag in lags if lag is not None]
    behind = [one.waiting_ms for one in queues if one.lag != 0]
    ages = [age for age in behind if age is not None]
    is_whole = is_complete and len(known) == len(lags) and len(ages) == len(behind)
    if not known:
        # A group without queues has no lag. If no broker reported its queues, the lag is unknown.
        nothing = 0 if is_whole else None
        return LagTotal(nothing, nothing, is_whole, nothing)
    oldest = max(ages, default=None if behind else 0)
    expired = sum(one.expired_count or 0 for one in queues)
    return LagTotal(sum(known), oldest, is_whole, expired)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Count the broker groups whose masters answered, of those that may know the group.

    If some masters do not answer, the answer is partial. It is unknown only if none answers.
    """

    answered_count: int
    asked_count: int


def state_of(member_count: int, coverage: Coverage) -> GroupState:
    """Return the state of a group by the brokers that answered; unknown if none answered.

    With partial coverage, a broker that did not answer may know a member.
    """
    if member_count:
        return GroupState.ACTIVE
    if coverage.asked_count and not coverage.answered_count:
        return GroupState.UNKNOWN
    return GroupState.INACTIVE
