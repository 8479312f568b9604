"""Delete old events on schedule."""

from backend.services.upkeep.events import ExpiryOutcome, expire_events
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("events.expire")
def expire() -> None:
    """Keep the stream of events within its limits."""
    run_periodic("events.expire", _expire)


async def _expire(clients: Clients) -> ExpiryOutcome:
    policy = clients.settings.retention
    return await expire_events(
        kept_max=policy.events_max,
        kept_for=policy.events,
        database=clients.database,
        clock=clients.clock,
    )
