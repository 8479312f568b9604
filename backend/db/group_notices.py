"""Hear of every change of a controller's groups as soon as it is committed, whoever made it.

A connection of its own listens. A notice is missed while that connection is away, or when the
process that made a change ends in the moment between the commit and telling of it; then brokers
find out by asking.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select

from backend.db import notices
from backend.db.engine import Connection, Database
from backend.db.events import STAGED_CHANNEL
from backend.db.pipeline import Pipeline
from backend.domain.replica_group import Change, ChangeKind

CHANNEL: Final = "regent_replica_groups"


@dataclass(frozen=True, slots=True)
class GroupNotice:
    """Say that a group has changed, and how; of one that was removed nobody is told."""

    cluster_name: str
    broker_group_name: str
    kind: ChangeKind
    revision: int


async def tell(runner: Pipeline | Connection, change: Change, revision: int) -> None:
    """Have all processes told of a change, and that it has an event, once it is committed.

    No name holds a slash.
    """
    group = change.before
    payload = f"{revision}/{change.kind}/{group.cluster_name}/{group.name}"
    for notice in ((CHANNEL, payload), (STAGED_CHANNEL, "")):
        if isinstance(runner, Pipeline):
            runner.tell(*notice)
        else:
            await runner.execute(select(func.pg_notify(*notice)))


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[GroupNotice]]:
    """Listen while the context is open: what is committed from its opening on is heard.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    async with notices.listen(database, CHANNEL, application_name="regent-notices") as payloads:
        yield (_notice(payload) async for payload in payloads)


def _notice(payload: str) -> GroupNotice:
    revision, kind, cluster_name, broker_group_name = payload.split("/", 3)
    return GroupNotice(cluster_name, broker_group_name, ChangeKind(kind), int(revision))
