"""Collect and archive broker samples on schedule."""

from backend.services.samples.archive import ArchiveOutcome, archive_samples
from backend.services.samples.collection import CollectionOutcome, collect_samples
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("samples.collect")
def collect() -> None:
    """Sample every online broker once."""
    run_periodic("samples.collect", _collect)


@task("samples.archive")
def archive() -> None:
    """Write waiting samples into the Parquet history."""
    run_periodic("samples.archive", _archive)


async def _collect(clients: Clients) -> CollectionOutcome:
    return await collect_samples(
        database=clients.database,
        redis=clients.redis,
        brokers=clients.brokers,
        clock=clients.clock,
    )


async def _archive(clients: Clients) -> ArchiveOutcome:
    return await archive_samples(
        redis=clients.redis,
        database=clients.database,
        history=clients.history,
        clock=clients.clock,
    )
