"""Add up the lag of consumer groups from the reports of masters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.queue_reading import QueueProgress, Unread


@dataclass(frozen=True, slots=True)
class ReportedGroupLag:
    """Hold the lag of a group in a topic on one broker group.

    `queue_count` counts the queues with a known lag. `expired_count` counts messages that were
    deleted before the group read them; they are no part of the lag.
    """

    consumer_group_name: str
    topic_name: str
    queue_count: int
    lag: int
    expired_count: int = 0


@dataclass(frozen=True, slots=True)
class RecordedLag:
    """Hold the lag of a group in a topic on all broker groups together, in messages.

    `measured_at` is the time of the broker group with the oldest answer. If it is older than the
    interval of `lags.measure`, the lag is outdated (D21). `topic_queue_count` is the number of
    queues that consumers can read, by the records. The lag does not include queues in which the
    group never committed, or whose master never answered.
    """

    consumer_group_name: str
    topic_name: str
    queue_count: int
    topic_queue_count: int | None
    lag: int
    measured_at: datetime
    expired_count: int = 0


def add_up(consumer_group_name: str, progress: Sequence[QueueProgress]) -> list[ReportedGroupLag]:
    """Add up the queues of each topic, without queues whose lag is unknown (D21)."""
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
