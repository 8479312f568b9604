"""Hear of every change of a controller's groups as soon as it is committed, whoever made it.

A connection of its own listens. A notice can be missed only while that connection is away.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg

from backend.db.engine import Database, connect
from backend.db.replica_groups import CHANNEL
from backend.domain.replica_group import ChangeKind


@dataclass(frozen=True, slots=True)
class GroupNotice:
    """Say that a group has changed, and how; of one that was removed nobody is told."""

    cluster_name: str
    group_name: str
    kind: ChangeKind
    revision: int


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[GroupNotice]]:
    """Listen while the context is open: what is committed from its opening on is heard.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    async with await connect(database.url, application_name="regent-notices") as connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        yield _notices(connection)


async def _notices(connection: psycopg.AsyncConnection) -> AsyncIterator[GroupNotice]:
    async for notice in connection.notifies():
        revision, kind, cluster_name, group_name = notice.payload.split("/", 3)
        yield GroupNotice(cluster_name, group_name, ChangeKind(kind), int(revision))
