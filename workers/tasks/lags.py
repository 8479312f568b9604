"""Measure the lag of consumer groups on schedule."""

from backend.services.consumer_group.contradictions import find_and_keep
from backend.services.consumer_group.recorded_lags import MeasureOutcome, measure_lags
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("lags.measure")
def measure() -> None:
    """Ask every master once."""
    run_periodic("lags.measure", _measure)


async def _measure(clients: Clients) -> MeasureOutcome:
    await find_and_keep(database=clients.database, brokers=clients.brokers, clock=clients.clock)
    return await measure_lags(
        database=clients.database, brokers=clients.brokers, clock=clients.clock
    )
