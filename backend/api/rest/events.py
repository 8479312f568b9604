"""Answer events over REST: a page as JSON, or the stream as server-sent events."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Header, Query, Request, Response

from backend.api.context import Context, Within
from backend.api.event_stream import EventStreamResponse
from backend.api.followed_events import follow_events
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, refused_with
from backend.api.rest.pages import Limit
from backend.api.rest.routers import guarded_router
from backend.domain.access import Reach
from backend.domain.event import Event, EventFilter, choose_kinds
from backend.domain.names import check_cluster_name
from backend.services.upkeep.events import list_events
from backend.views.events import EventOut, EventPageOut

router = guarded_router("events", prefix="/events")

NUMBER_MAX = 2**63 - 1
STREAM = "text/event-stream"

Number = Annotated[
    int | None,
    Query(ge=0, le=NUMBER_MAX, description="Only events behind this number, the oldest first."),
]
LastEventId = Annotated[
    int | None,
    Header(ge=0, le=NUMBER_MAX, description="Where a stream is resumed; goes before `after`."),
]
Kinds = Annotated[
    list[str] | None,
    Query(max_length=50, description="Only these kinds, or families such as `operation`."),
]


@router.get(
    "",
    response_model=EventPageOut,
    responses={
        **COMMON,
        **refused_with(409),
        200: {
            "description": "A page, or with `Accept: text/event-stream` all that comes.",
            "content": {STREAM: {"schema": {"type": "string"}}},
        },
    },
)
@reaches(Reach.KEPT)
async def read_events(
    request: Request,
    context: Context,
    within: Within,
    after: Number = None,
    last_event_id: LastEventId = None,
    cluster: str | None = None,
    kinds: Kinds = None,
    limit: Limit = 100,
) -> EventPageOut | Response:
    """List events, or follow them; without a number the newest events, or events from now on."""
    name = None if cluster is None else check_cluster_name(cluster)
    chosen = EventFilter(name, choose_kinds(kinds), within)
    if STREAM in request.headers.get("accept", ""):
        start = after if last_event_id is None else last_event_id
        batches = follow_events(context, request.state.token, after=start, chosen=chosen)
        try:
            # Errors must be raised before the answer begins.
            first = await anext(batches)
        except BaseException:
            await batches.aclose()
            raise
        return EventStreamResponse(first, batches, _present)
    page = await list_events(after=after, size=limit, chosen=chosen, database=context.database)
    return EventPageOut.of(page)


def _present(event: Event) -> dict[str, Any]:
    return asdict(EventOut.of(event))
