"""Hear that groups hold a topic no more, whichever process had it deleted."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from sqlalchemy import func, select

from backend.db import notices
from backend.db.engine import Connection, Database

CHANNEL: Final = "regent_topics_deleted"


class TopicNotice(msgspec.Struct, frozen=True):
    """Name a topic of a cluster, and the groups that have dropped it."""

    cluster_name: str
    topic_name: str
    broker_group_names: list[str]


async def announce(
    connection: Connection, cluster_name: str, topic_name: str, broker_group_names: Collection[str]
) -> None:
    """Notify every process once the transaction is committed.

    A notice holds 8 000 bytes at most, so that many groups take several.
    """
    names = sorted(broker_group_names)
    for start in range(0, len(names), 40):
        notice = TopicNotice(cluster_name, topic_name, names[start : start + 40])
        await connection.execute(
            select(func.pg_notify(CHANNEL, msgspec.json.encode(notice).decode()))
        )


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[TopicNotice]]:
    """Listen while the context is open; notices of all commits since then arrive.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    async with notices.listen(database, CHANNEL, application_name="regent-notices") as payloads:
        yield (msgspec.json.decode(payload, type=TopicNotice) async for payload in payloads)
