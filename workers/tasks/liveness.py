"""Run the liveness scan on schedule."""

from datetime import timedelta

from backend.services.liveness import LivenessOutcome, scan_liveness
from workers.runtime import Clients
from workers.tasks.base import run_alone, task


@task("liveness.scan")
def scan() -> None:
    """Give up brokers that have fallen silent."""
    run_alone("liveness.scan", _scan, deadline=timedelta(seconds=15))


async def _scan(clients: Clients) -> LivenessOutcome:
    return await scan_liveness(database=clients.database, redis=clients.redis, clock=clients.clock)
