"""Keep the number of logical queues that clients see of each static topic, and its notices."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from sqlalchemy import delete, exists, func, select
from sqlalchemy.dialects.postgresql import insert

from backend.db import notices
from backend.db.engine import Connection, Database
from backend.db.tables import broker_groups, clusters, static_counts, topic_placements, topics
from backend.domain.logical_queue.route import StaticCount

CHANNEL: Final = "regent_static_counts"


async def save(connection: Connection, count: StaticCount) -> bool:
    """Store a count unless that of a newer epoch is stored, and notify every process.

    Return whether it is stored.
    """
    statement = insert(static_counts).values(**msgspec.to_builtins(count))
    row = statement.excluded
    upsert = statement.on_conflict_do_update(
        index_elements=list(static_counts.primary_key),
        set_={"epoch": row.epoch, "queue_count": row.queue_count},
        where=static_counts.c.epoch < row.epoch,
    )
    result = await connection.execute(upsert.returning(static_counts.c.epoch))
    if result.first() is None:
        return False
    payload = msgspec.json.encode(count).decode()
    await connection.execute(select(func.pg_notify(CHANNEL, payload)))
    return True


async def list_all(connection: Connection) -> list[StaticCount]:
    """List all counts."""
    rows = (await connection.execute(select(static_counts))).mappings()
    return [StaticCount(**row) for row in rows]


async def list_static(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> list[str]:
    """List the static topics on a broker group, by name."""
    statement = (
        select(topics.c.name)
        .select_from(topic_placements.join(topics).join(broker_groups).join(clusters))
        .where(
            clusters.c.name == cluster_name,
            broker_groups.c.name == broker_group_name,
            exists().where(static_counts.c.topic_name == topics.c.name),
        )
        .order_by(topics.c.name)
    )
    return list((await connection.execute(statement)).scalars())


async def remove_orphans(connection: Connection, topic_names: Collection[str]) -> None:
    """Remove the counts of those topics that no cluster has any more."""
    is_held = exists().where(topics.c.name == static_counts.c.topic_name)
    orphans = delete(static_counts).where(static_counts.c.topic_name.in_(topic_names), ~is_held)
    await connection.execute(orphans)


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[StaticCount]]:
    """Listen while the context is open; notices of all commits since then arrive.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    async with notices.listen(database, CHANNEL, application_name="regent-notices") as payloads:
        yield (msgspec.json.decode(payload, type=StaticCount) async for payload in payloads)
