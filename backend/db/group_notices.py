"""Receive notices of every committed change of a controller's groups, from all processes.

A separate connection listens. A notice is missed while this connection is lost, or if a process
ends between the commit of a change and its notice. Then brokers learn the change by polling.
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
    """Report that a group has changed, and how; there is no notice of a removed group."""

    cluster_name: str
    broker_group_name: str
    kind: ChangeKind
    revision: int


async def send(runner: Pipeline | Connection, change: Change, revision: int) -> None:
    """Notify all processes of a change and of its event, once it is committed.

    No name contains a slash.
    """
    group = change.before
    payload = f"{revision}/{change.kind}/{group.cluster_name}/{group.name}"
    for notice in ((CHANNEL, payload), (STAGED_CHANNEL, "")):
        if isinstance(runner, Pipeline):
            runner.notify(*notice)
        else:
            await runner.execute(select(func.pg_notify(*notice)))


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[GroupNotice]]:
    """Listen while the context is open; notices of all commits since then arrive.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    async with notices.listen(database, CHANNEL, application_name="regent-notices") as payloads:
        yield (_notice(payload) async for payload in payloads)


def _notice(payload: str) -> GroupNotice:
    revision, kind, cluster_name, broker_group_name = payload.split("/", 3)
    return GroupNotice(cluster_name, broker_group_name, ChangeKind(kind), int(revision))
