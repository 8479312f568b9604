"""Hear that groups hold a topic no more, whichever process had it deleted."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import msgspec
import psycopg
from sqlalchemy import func, select

from backend.db.engine import Connection, Database, connect

CHANNEL: Final = "regent_topics_deleted"


class TopicNotice(msgspec.Struct, frozen=True):
    """Name a topic of a cluster, and the groups that have dropped it."""

    cluster_name: str
    topic_name: str
    group_names: list[str]


async def announce(
    connection: Connection, cluster_name: str, topic_name: str, group_names: Collection[str]
) -> None:
    """Tell every process once the transaction is committed.

    A notice holds 8 000 bytes at most, so that many groups take several.
    """
    names = sorted(group_names)
    for start in range(0, len(names), 40):
        notice = TopicNotice(cluster_name, topic_name, names[start : start + 40])
        await connection.execute(
            select(func.pg_notify(CHANNEL, msgspec.json.encode(notice).decode()))
        )


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[TopicNotice]]:
    """Listen while the context is open: what is committed from its opening on is heard.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    async with await connect(database.url, application_name="regent-notices") as connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        yield _notices(connection)


async def _notices(connection: psycopg.AsyncConnection) -> AsyncIterator[TopicNotice]:
    async for notice in connection.notifies():
        yield msgspec.json.decode(notice.payload, type=TopicNotice)
