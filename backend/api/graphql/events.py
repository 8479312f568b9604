"""Present what has happened in the graph: page by page, and as it comes."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Self

import strawberry
from strawberry.scalars import JSON

from backend.api.followed_events import follow_events
from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.domain import event as domain
from backend.domain.cluster_scope import ClusterScope
from backend.domain.event import EventFilter, choose_kinds
from backend.domain.names import check_cluster_name
from backend.services.events import list_events


@strawberry.type
class Event:
    """Present what has happened, by the number that everybody knows it by."""

    number: Int64
    kind: str
    cluster_name: str
    subject: str
    happened_at: datetime
    details: JSON
    operation_id: strawberry.ID | None

    @classmethod
    def of(cls, event: domain.Event) -> Self:
        """Present an event."""
        operation_id = event.operation_id
        return cls(
            number=Int64(event.number),
            kind=event.kind,
            cluster_name=event.cluster_name,
            subject=event.subject,
            happened_at=event.happened_at,
            details=JSON(event.details),
            operation_id=None if operation_id is None else strawberry.ID(str(operation_id)),
        )


@strawberry.type
class EventPage:
    """Present events by number; go on after `nextAfter`, which is past all that was looked at."""

    items: list[Event]
    next_after: Int64
    newest_number: Int64
    oldest_number: Int64


@strawberry.type
class EventQuery:
    """Ask what has happened."""

    @strawberry.field
    async def events(
        self,
        info: Info,
        first: int = 100,
        after: Int64 | None = None,
        cluster: str | None = None,
        kinds: list[str] | None = None,
    ) -> EventPage:
        """List events behind a number, the oldest first; without one, the newest ones.

        `kinds` names kinds or their families, such as `operation`.
        """
        page = await list_events(
            after=after,
            size=first,
            chosen=_filter(cluster, kinds, info.context.within),
            database=info.context.api.database,
        )
        return EventPage(
            items=[Event.of(event) for event in page.events],
            next_after=Int64(page.next_after),
            newest_number=Int64(page.newest_number),
            oldest_number=Int64(page.oldest_number),
        )


@strawberry.type
class EventSubscription:
    """Follow what happens."""

    @strawberry.subscription
    async def events(
        self,
        info: Info,
        after: Int64 | None = None,
        cluster: str | None = None,
        kinds: list[str] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Follow events from behind a number, or from now on, each once and in order."""
        context = info.context
        chosen = _filter(cluster, kinds, context.within)
        batches = follow_events(context.api, context.token, after=after, chosen=chosen)
        async with aclosing(batches):
            async for batch in batches:
                for event in batch.events:
                    yield Event.of(event)


def _filter(cluster: str | None, kinds: list[str] | None, within: ClusterScope) -> EventFilter:
    name = None if cluster is None else check_cluster_name(cluster)
    return EventFilter(name, choose_kinds(kinds), within)
