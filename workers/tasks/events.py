"""Let old events go on schedule."""

from datetime import timedelta

from backend.services.events import ExpiryOutcome, expire_events
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("events.expire")
def expire() -> None:
    """Keep the stream of events within its bounds."""
    run_periodic("events.expire", _expire)


async def _expire(clients: Clients) -> ExpiryOutcome:
    settings = clients.settings
    return await expire_events(
        kept_max=settings.events_kept_max,
        kept_for=timedelta(hours=settings.events_kept_hours),
        database=clients.database,
        clock=clients.clock,
    )
