"""Show the recorded lag of consumer groups."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from backend.domain.recorded_lag import RecordedLag
from backend.views.copying import Copied
from backend.views.field_texts import (
    CONSUMER_GROUP,
    EXPIRED_COUNT,
    MEASURED_AT,
    MEASURED_LAG,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class RecordedLagOut(Copied[RecordedLag]):
    """Number of messages that a group had not consumed in a topic, and when it was measured.

    The lag is that of `queue_count` queues. The topic has `topic_queue_count` queues.
    """

    consumer_group_name: Annotated[str, CONSUMER_GROUP]
    topic_name: Annotated[str, TOPIC_NAME]
    queue_count: Annotated[int, Text("Number of queues in this lag.")]
    topic_queue_count: Annotated[
        int | None,
        Text("Number of queues of the topic that consumers can read. Null if it is unknown."),
    ]
    lag: Annotated[Int64, MEASURED_LAG]
    expired_count: Annotated[Int64, EXPIRED_COUNT]
    measured_at: Annotated[datetime, MEASURED_AT]
