"""Hear of every change of a controller's groups as soon as it is committed, whoever made it.

A connection of its own listens. A notice can be missed only while that connection is away.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg

from backend.db.engine import CONNECT_TIMEOUT_S, Database
from backend.db.replica_groups import CHANNEL
from backend.domain.replica_group import ChangeKind


@dataclass(frozen=True, slots=True)
class GroupNotice:
    """Say that a group has changed, and how."""

    cluster_name: str
    group_name: str
    kind: ChangeKind


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[GroupNotice]]:
    """Listen while the context is open: what is committed from its opening on is heard.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    url = database.url.set(drivername="postgresql")
    connection = await psycopg.AsyncConnection.connect(
        url.render_as_string(hide_password=False),
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT_S,
        application_name="regent-notices",
    )
    async with connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        yield _notices(connection)


async def _notices(connection: psycopg.AsyncConnection) -> AsyncIterator[GroupNotice]:
    async for notice in connection.notifies():
        told = json.loads(notice.payload)
        yield GroupNotice(told["cluster_name"], told["group_name"], ChangeKind(told["kind"]))
