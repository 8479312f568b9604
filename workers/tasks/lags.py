"""Measure how far consumer groups are, on schedule."""

from backend.services.recorded_lags import MeasureOutcome, measure_lags
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("lags.measure")
def measure() -> None:
    """Ask every master once."""
    run_periodic("lags.measure", _measure)


async def _measure(clients: Clients) -> MeasureOutcome:
    return await measure_lags(
        database=clients.database, brokers=clients.brokers, clock=clients.clock
    )
