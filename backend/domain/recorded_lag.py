"""Add up how many messages consumer groups have left to read, from what their masters told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.queue_reading import QueueProgress, Unread


@dataclass(frozen=True, slots=True)
class ReportedGroupLag:
    """Hold how far a group is in a topic's queues on one broker group.

    `queue_count` is of the queues whose lag is known; `expired_count` counts the messages that were
    deleted before the group read them, which are no part of the lag.
    """

    consumer_group_name: str
    topic_name: str
    queue_count: int
    lag: int
    expired_count: int = 0


@dataclass(frozen=True, slots=True)
class RecordedLag:
    """Hold how far a group is in a topic on all broker groups together, in messages.

    `measured_at` is of the broker group that was heard the longest ago: older than the interval of
    `lags.measure`, the number is of then, and not of now (D21). `topic_queue_count` is how many
    queues consumers can read there are by the records: of the others, which the group never
    committed in or whose master was never heard, the lag tells nothing.
    """

    consumer_group_name: str
    topic_name: str
    queue_count: int
    topic_queue_count: int | None
    lag: int
    measured_at: datetime
    expired_count: int = 0


def add_up(consumer_group_name: str, progress: Sequence[QueueProgress]) -> list[ReportedGroupLag]:
    """Add the queues of each topic; one whose lag is not known is not counted (D21)."""
    known: dict[str, list[Unread]] = {}
    for one in progress:
        if one.unread is not None:
            known.setdefault(one.topic, []).append(one.unread)
    return [
        ReportedGroupLag(
            consumer_group_name,
            topic,
            len(unread),
            sum(one.lag for one in unread),
            sum(one.expired for one in unread),
        )
        for topic, unread in sorted(known.items())
    ]
