"""Show what has happened."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from backend.domain.event import Event
from backend.services.upkeep.events import EventPage
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class EventOut(Copied[Event]):
    """An event, with its number in the order of all events."""

    number: Int64
    kind: str
    cluster_name: str
    subject: str
    broker_group_name: str | None
    happened_at: datetime
    details: dict[str, Any]
    operation_id: UUID | None


@dataclass(frozen=True, slots=True)
class EventPageOut:
    """Events by number; continue with `after` = `next_after`, which is behind all checked events.

    To read lists and then follow their changes without a gap, read `newest_number` first.
    """

    items: list[EventOut]
    next_after: Int64
    newest_number: Int64
    oldest_number: Int64

    @classmethod
    def of(cls, page: EventPage) -> Self:
        """Show a page."""
        return copied(cls, page, items=[EventOut.of(event) for event in page.events])
