"""Run the liveness scan on schedule."""

from backend.services.controller.liveness import LivenessOutcome, scan_liveness
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("liveness.scan")
def scan() -> None:
    """Mark brokers without heartbeats as lost."""
    run_periodic("liveness.scan", _scan)


async def _scan(clients: Clients) -> LivenessOutcome:
    return await scan_liveness(database=clients.database, redis=clients.redis, clock=clients.clock)
