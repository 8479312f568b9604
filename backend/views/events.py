"""Show events."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from backend.domain.event import Event
from backend.services.upkeep.events import EventPage
from backend.views.copying import Copied, copied
from backend.views.field_texts import CAUSING_OPERATION_ID, CLUSTER_NAME
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class EventOut(Copied[Event]):
    """An event, with its number in the order of all events."""

    number: Annotated[Int64, Text("Number of the event. Numbers have no gap.")]
    kind: Annotated[str, Text("Kind of the event, such as `broker.lost`.")]
    cluster_name: Annotated[str, CLUSTER_NAME]
    subject: Annotated[str, Text("Object that the event is about.")]
    broker_group_name: Annotated[
        str | None,
        Text("Name of the broker group. Null if the event is about no broker group or broker."),
    ]
    happened_at: Annotated[datetime, Text("Time of the event.")]
    details: Annotated[dict[str, Any], Text("Further facts of the event, by name.")]
    operation_id: Annotated[UUID | None, CAUSING_OPERATION_ID]


@dataclass(frozen=True, slots=True)
class EventPageOut:
    """Events by number; the next page starts with `after` = `next_after`.

    To read lists and then follow their changes without a gap, read `newest_number` first.
    """

    items: Annotated[list[EventOut], Text("Events of this page, by number.")]
    next_after: Annotated[
        Int64,
        Text("Value of `after` for the next page. All events up to this number were checked."),
    ]
    newest_number: Annotated[Int64, Text("Number of the newest event.")]
    oldest_number: Annotated[Int64, Text("Number of the oldest event that is kept.")]

    @classmethod
    def of(cls, page: EventPage) -> Self:
        """Show a page."""
        return copied(cls, page, items=[EventOut.of(event) for event in page.events])
