"""Collect and archive broker samples on schedule."""

from datetime import timedelta

from backend.services.samples.archive import ArchiveOutcome, archive_samples
from backend.services.samples.collection import CollectionOutcome, collect_samples
from workers.runtime import Clients
from workers.tasks.base import run_alone, task


@task("samples.collect")
def collect() -> None:
    """Sample every online broker once."""
    run_alone("samples.collect", _collect, deadline=timedelta(seconds=15))


@task("samples.archive")
def archive() -> None:
    """Write waiting samples into the Parquet history."""
    run_alone("samples.archive", _archive, deadline=timedelta(seconds=45))


async def _collect(clients: Clients) -> CollectionOutcome:
    return await collect_samples(
        database=clients.database,
        redis=clients.redis,
        source=clients.brokers,
        clock=clients.clock,
    )


async def _archive(clients: Clients) -> ArchiveOutcome:
    return await archive_samples(
        redis=clients.redis,
        database=clients.database,
        history=clients.history,
        clock=clients.clock,
    )
