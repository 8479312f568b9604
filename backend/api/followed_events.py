"""Follow events for as long as whoever asked stays signed in, whichever door it is told through."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from backend.api.context import ApiContext
from backend.domain.access import Permission, require
from backend.domain.errors import Unauthenticated
from backend.domain.event import EventFilter
from backend.services.credentials import find_principal
from backend.services.event_feed import EventBatch

SESSION_CHECK_INTERVAL_MS: Final = 5_000


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
    checked_at_ms, within = api.clock.now_ms(), chosen.within
    async with aclosing(api.events.follow(after, chosen)) as batches:
        async for batch in batches:
            now_ms = api.clock.now_ms()
            # Also at once where the clock was set back, which would put the next look off.
            if not 0 <= now_ms - checked_at_ms < SESSION_CHECK_INTERVAL_MS:
                checked_at_ms = now_ms
                found = await find_principal(token, database=api.database, clock=api.clock)
                if found is None:
                    raise Unauthenticated
                require(found, Permission.READ)
                within = found.clusters
            reached = (one for one in batch.events if within.includes(one.cluster_name))
            yield EventBatch(tuple(reached), batch.position)
