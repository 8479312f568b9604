"""Show incidents: what happened to a member or a topic, and what became of the record."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.share_incident import (
    IncidentOutcome,
    IncidentResolution,
    ShareIncident,
)
from backend.rules.share_incident import IncidentKind
from backend.views.copying import copied
from backend.views.field_texts import BROKER_GROUP_NAME, BROKER_NAME, CLUSTER_NAME
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class ShareIncidentOut:
    """An error of a member, a lease that ended early, or the loss of a topic's messages."""

    id: Annotated[Int64, Text("Number of the incident.")]
    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker: Annotated[str, BROKER_NAME]
    kind: Annotated[IncidentKind, Text("What happened to the broker, or to a topic there.")]
    explanation: Annotated[str, Text("What happened in words, and what to do about it.")]
    epoch: Annotated[Int64, Text("Epoch of the master. For a lease: its lease epoch.")]
    lane: Annotated[int, Text("Number of the lane of the state log.")]
    position: Annotated[
        Int64 | None, Text("Log position of the record in bytes. Null if it is about no record.")
    ]
    topic: Annotated[
        str | None, Text("Topic, or that of the share queue. Null if it is about the whole lane.")
    ]
    queue_id: Annotated[
        int | None, Text("Queue of the share queue. Null if it is about a whole lane or topic.")
    ]
    consumer_group_name: Annotated[
        str | None,
        Text("Consumer group of the share queue. Null if it is about a whole lane or topic."),
    ]
    reason: Annotated[str | None, Text("Error that the broker reports. Null if it reports none.")]
    outcome: Annotated[
        IncidentOutcome | None,
        Text("What became of the record at the other members. Null if it is about no record."),
    ]
    opened_at: Annotated[datetime, Text("Time when the incident was recorded.")]
    resolved_at: Annotated[
        datetime | None, Text("Time when the incident was over. Null while it is open.")
    ]
    resolution: Annotated[
        IncidentResolution | None, Text("How the incident ended. Null while it is open.")
    ]

    @classmethod
    def of(cls, incident: ShareIncident) -> Self:
        """Show an incident."""
        return copied(cls, incident, broker=str(incident.broker), explanation=incident.explanation)
