"""Show how far consumer groups were when that was last measured."""

from dataclasses import dataclass
from datetime import datetime

from backend.domain.recorded_lag import RecordedLag
from backend.views.copying import Copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class RecordedLagOut(Copied[RecordedLag]):
    """How many messages a group has left in a topic, and since when that is known.

    That is of `queue_count` queues; the topic has `topic_queue_count`, null where it is not known.
    """

    consumer_group_name: str
    topic_name: str
    queue_count: int
    topic_queue_count: int | None
    lag: Int64
    expired_count: Int64
    measured_at: datetime
