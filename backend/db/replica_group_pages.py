"""List the groups under a controller page by page, and count them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, true

from backend.db.engine import Connection
from backend.db.tables import (
    broker_groups,
    clusters,
    replica_group_changes,
    replica_groups,
    replica_reports,
)

_CONTROLLED = broker_groups.join(replica_groups)


async def list_names(
    connection: Connection,
    cluster_names: Collection[str],
    *,
    search: str,
    after: str | None,
    limit: int,
) -> dict[str, list[str]]:
    """List the first groups of each cluster whose names contain a text, in one statement."""
    wanted = select(clusters.c.id, clusters.c.name).where(clusters.c.name.in_(cluster_names))
    of = wanted.subquery("wanted")
    groups = (
        select(broker_groups.c.name)
        .select_from(_CONTROLLED)
        .where(broker_groups.c.cluster_id == of.c.id, _holds(search))
    )
    if after is not None:
        groups = groups.where(broker_groups.c.name > after)
    page = groups.order_by(broker_groups.c.name).limit(limit).lateral("page")
    statement = (
        select(of.c.name.label("cluster_name"), page.c.name)
        .select_from(of.join(page, true()))
        .order_by(of.c.name, page.c.name)
    )
    found: dict[str, list[str]] = {name: [] for name in cluster_names}
    for row in await connection.execute(statement):
        found[row[0]].append(row[1])
    return found


async def count_of_clusters(
    connection: Connection, cluster_names: Collection[str], *, search: str
) -> dict[str, int]:
    """Count the groups of each cluster whose names contain a text."""
    statement = (
        select(clusters.c.name, func.count())
        .select_from(_CONTROLLED.join(clusters))
        .where(clusters.c.name.in_(cluster_names), _holds(search))
        .group_by(clusters.c.name)
    )
    counted = {row[0]: row[1] for row in await connection.execute(statement)}
    return {name: counted.get(name, 0) for name in cluster_names}


async def count_changes(connection: Connection, cluster_name: str, broker_group_name: str) -> int:
    """Count the changes in a group's history, which may outlive the group."""
    table = replica_group_changes
    statement = select(func.count()).where(
        table.c.cluster_name == cluster_name, table.c.broker_group_name == broker_group_name
    )
    return int((await connection.execute(statement)).scalar_one())


@dataclass(frozen=True, slots=True)
class Listener:
    """Hold a process that receives heartbeats of replicas, and the time of the last heartbeat."""

    id: UUID
    replica_count: int
    heard_at: datetime


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Count the groups under a controller, and those without a master."""

    group_count: int
    masterless_group_count: int


async def count_groups(connection: Connection) -> GroupCounts:
    """Count the groups of all clusters."""
    is_led = replica_groups.c.master_id.is_not(None) & ~replica_groups.c.is_master_lost
    statement = select(func.count(), func.count().filter(~is_led)).select_from(replica_groups)
    row = (await connection.execute(statement)).one()
    return GroupCounts(group_count=row[0], masterless_group_count=row[1])


async def list_listeners(connection: Connection, *, since: timedelta) -> list[Listener]:
    """List the processes with recent heartbeats of replicas, the one with most replicas first."""
    seen = replica_reports
    heard_at = func.max(seen.c.heard_at)
    statement = (
        select(seen.c.heard_by, func.count(), heard_at)
        .where(seen.c.heard_at > func.clock_timestamp() - since)
        .group_by(seen.c.heard_by)
        .order_by(func.count().desc(), seen.c.heard_by)
    )
    rows = await connection.execute(statement)
    return [Listener(id=row[0], replica_count=row[1], heard_at=row[2]) for row in rows]


def _holds(search: str) -> ColumnElement[bool]:
    return broker_groups.c.name.icontains(search, autoescape=True) if search else true()
