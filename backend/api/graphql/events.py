"""Present events in the graph: as pages, and as a subscription."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import strawberry

from backend.api.followed_events import follow_events
from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import follows, shows
from backend.domain.cluster_scope import ClusterScope
from backend.domain.event import EventFilter, choose_kinds
from backend.domain.names import check_cluster_name
from backend.services.upkeep.events import list_events
from backend.views.events import EventOut, EventPageOut


@strawberry.type
class EventQuery:
    """Ask for events."""

    @shows(EventPageOut)
    async def events(
        self,
        info: Info,
        first: int = 100,
        after: Int64 | None = None,
        cluster: str | None = None,
        kinds: list[str] | None = None,
    ) -> EventPageOut:
        """List events after a number, the oldest first; without a number, the newest events.

        `kinds` names kinds or families of kinds, such as `operation`.
        """
        page = await list_events(
            after=after,
            size=first,
            chosen=_filter(cluster, kinds, info.context.within),
            database=info.context.api.database,
        )
        return EventPageOut.of(page)


@strawberry.type
class EventSubscription:
    """Follow events."""

    @follows(EventOut)
    async def events(
        self,
        info: Info,
        after: Int64 | None = None,
        cluster: str | None = None,
        kinds: list[str] | None = None,
    ) -> AsyncGenerator[EventOut, None]:
        """Follow events after a number, or from now on, each once and in order."""
        context = info.context
        chosen = _filter(cluster, kinds, context.within)
        batches = follow_events(context.api, context.token, after=after, chosen=chosen)
        async with aclosing(batches):
            async for batch in batches:
                for event in batch.events:
                    yield EventOut.of(event)


def _filter(cluster: str | None, kinds: list[str] | None, within: ClusterScope) -> EventFilter:
    name = None if cluster is None else check_cluster_name(cluster)
    return EventFilter(name, choose_kinds(kinds), within)
