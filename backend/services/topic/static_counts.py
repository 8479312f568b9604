"""Share the number of logical queues that clients see of static topics, between processes."""

from collections.abc import Iterable

from backend.db import static_counts
from backend.db.engine import Database
from backend.domain.logical_queue.route import StaticCount


async def record_counts(counts: Iterable[StaticCount], *, database: Database) -> None:
    """Record counts, and notify all name servers of those that are new."""
    async with database.begin() as connection:
        for count in counts:
            await static_counts.save(connection, count)


async def list_counts(*, database: Database) -> list[StaticCount]:
    """List the counts of all static topics."""
    async with database.connect() as connection:
        return await static_counts.list_all(connection)
