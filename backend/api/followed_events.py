"""Follow events while the caller is signed in, for both doors."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from backend.api.context import ApiContext
from backend.api.credential_watch import CredentialWatch
from backend.domain.event import EventFilter
from backend.services.upkeep.event_feed import EventBatch


async def follow_events(
    api: ApiContext, token: str, *, after: int | None, chosen: EventFilter
) -> AsyncGenerator[EventBatch, None]:
    """Yield events of clusters within reach, and heartbeats; the first batch comes immediately.

    If the reach of the caller shrinks, this takes effect at the next check of the credential. If it
    grows, the caller must start again.

    Raises:
        EventsExpired: events after that number are no longer kept, or the number was never
        assigned. SubscriberTooSlow: the subscriber had received all events, and then fell too far
        behind. Unauthenticated: the session has ended. PasswordChangeRequired: the password of the
        user was reset.
    """
    watch, within = CredentialWatch(api, token), chosen.within
    async with aclosing(api.events.follow(after, chosen)) as batches:
        async for batch in batches:
            found = await watch.look()
            if found is not None:
                within = found.clusters
            reached = (one for one in batch.events if within.includes(one.cluster_name))
            yield EventBatch(tuple(reached), batch.position)
