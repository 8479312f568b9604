"""Follow events for as long as whoever asked stays signed in, whichever door it is told through."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from backend.api.context import ApiContext
from backend.api.credential_watch import CredentialWatch
from backend.domain.event import EventFilter
from backend.services.upkeep.event_feed import EventBatch


async def follow_events(
    api: ApiContext, token: str, *, after: int | None, chosen: EventFilter
) -> AsyncGenerator[EventBatch, None]:
    """Yield events of clusters within reach and heartbeats; the first batch comes at once.

    Whoever reaches fewer clusters than when they began is told of these from the next look at their
    credential on; who reaches more begins anew.

    Raises:
        EventsExpired: events behind that number are no longer kept, or it was never given.
        SubscriberTooSlow: the subscriber had caught up, and then fell too far behind.
        Unauthenticated: the session has ended.
        PasswordChangeRequired: their password was reset.
    """
    watch, within = CredentialWatch(api, token), chosen.within
    async with aclosing(api.events.follow(after, chosen)) as batches:
        async for batch in batches:
            found = await watch.look()
            if found is not None:
                within = found.clusters
            reached = (one for one in batch.events if within.includes(one.cluster_name))
            yield EventBatch(tuple(reached), batch.position)
