"""Add up how many messages consumer groups have left to read, from what their masters told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.queue_reading import QueueProgress


@dataclass(frozen=True, slots=True)
class ToldLag:
    """Hold how far a group is in a topic's queues on one broker group."""

    consumer_group: str
    topic_name: str
    queue_count: int
    lag: int


@dataclass(frozen=True, slots=True)
class RecordedLag:
    """Hold how far a group is in a topic on all broker groups together, in messages.

    `measured_at` is of the broker group that was heard the longest ago: older than the interval of
    `lags.measure`, the number is of then, and not of now (D21). `topic_queue_count` is how many
    queues consumers can read there are by the records: of the others, which the group never
    committed in or whose master was never heard, the lag tells nothing.
    """

    consumer_group: str
    topic_name: str
    queue_count: int
    topic_queue_count: int | None
    lag: int
    measured_at: datetime


def add_up(consumer_group: str, progress: Sequence[QueueProgress]) -> list[ToldLag]:
    """Add the queues of each topic."""
    topics = sorted({one.topic for one in progress})
    return [
        ToldLag(
            consumer_group,
            topic,
            sum(one.topic == topic for one in progress),
            sum(one.lag for one in progress if one.topic == topic),
        )
        for topic in topics
    ]
