"""Store broker groups."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, delete, exists, func, select, true, update
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.tables import broker_groups, brokers, clusters, replica_groups
from backend.domain.broker import BrokerState
from backend.domain.broker_group import BrokerGroup, find_acting_id
from backend.domain.errors import BrokerGroupNotFound
from backend.rules.group_mode import GroupMode


async def find_or_add(
    connection: Connection, cluster_id: int, name: str, *, mode: GroupMode, at: datetime
) -> int:
    """Return the id of a group of a cluster, and store its mode; add the group if it is new.

    A group under a controller does not change: a registration at a name server does not contain the
    mode (D16).
    """
    statement = insert(broker_groups).values(
        cluster_id=cluster_id, name=name, mode=mode, created_at=at
    )
    is_controlled = broker_groups.c.mode == GroupMode.CONTROLLER
    kept = case((is_controlled, broker_groups.c.mode), else_=mode)
    upsert = statement.on_conflict_do_update(
        index_elements=[broker_groups.c.cluster_id, broker_groups.c.name], set_={"mode": kept}
    )
    added = await connection.execute(upsert.returning(broker_groups.c.id))
    return int(added.scalar_one())


async def get(connection: Connection, cluster_name: str, name: str) -> BrokerGroup:
    """Return the group of this name in a cluster.

    Raises:
        BrokerGroupNotFound: the cluster has no such group.
    """
    statement = _select().where(clusters.c.name == cluster_name, broker_groups.c.name == name)
    row = (await connection.execute(statement)).mappings().first()
    if row is None:
        raise BrokerGroupNotFound(cluster_name, name)
    return _group(row)


async def lock(connection: Connection, cluster_name: str, name: str) -> BrokerGroup | None:
    """Find a group, and lock its row before the rows of its brokers."""
    named = _select().where(clusters.c.name == cluster_name, broker_groups.c.name == name)
    row = (await connection.execute(named.with_for_update(of=broker_groups))).mappings().first()
    return None if row is None else _group(row)


async def note_acting(
    connection: Connection, group_id: int, *, at: datetime
) -> tuple[BrokerGroup, BrokerGroup] | None:
    """Record which replica acts for an absent master; return the group before and after a change.

    The transaction has locked the row of the group.
    """
    row = (await connection.execute(_select().where(broker_groups.c.id == group_id))).mappings()
    before = _group(row.one())
    online = select(brokers.c.broker_id).where(
        brokers.c.broker_group_id == group_id, brokers.c.state == BrokerState.ONLINE
    )
    acting_id = find_acting_id(before.mode, set(await connection.scalars(online)))
    if acting_id == before.acting_id:
        return None
    since = None if acting_id is None else at
    statement = update(broker_groups).where(broker_groups.c.id == group_id)
    await connection.execute(statement.values(acting_id=acting_id, acting_since=since))
    return before, replace(before, acting_id=acting_id, acting_since=since)


async def is_forsaken(connection: Connection, broker_group_id: int) -> bool:
    """Return whether a group has no broker any more, and no replicas at a controller."""
    is_held = exists().where(brokers.c.broker_group_id == broker_group_id)
    is_controlled = exists().where(replica_groups.c.broker_group_id == broker_group_id)
    return bool(await connection.scalar(select(~is_held & ~is_controlled)))


async def remove(connection: Connection, broker_group_id: int) -> None:
    """Remove an empty group."""
    await connection.execute(delete(broker_groups).where(broker_groups.c.id == broker_group_id))


async def list_of_clusters(
    connection: Connection, cluster_ids: Collection[int], *, after: str | None, limit: int
) -> dict[int, list[BrokerGroup]]:
    """List the first groups of each cluster by name, all clusters in one statement."""
    wanted = select(clusters.c.id).where(clusters.c.id.in_(cluster_ids)).subquery("wanted")
    groups = _select().where(broker_groups.c.cluster_id == wanted.c.id)
    if after is not None:
        groups = groups.where(broker_groups.c.name > after)
    page = groups.order_by(broker_groups.c.name).limit(limit).lateral("page")
    statement = (
        select(wanted.c.id.label("wanted_id"), *page.c)
        .select_from(wanted.join(page, true()))
        .order_by(wanted.c.id, page.c.name)
    )
    found: dict[int, list[BrokerGroup]] = {cluster_id: [] for cluster_id in cluster_ids}
    for row in (await connection.execute(statement)).mappings():
        found[row["wanted_id"]].append(_group(row))
    return found


async def count_of_clusters(connection: Connection, cluster_ids: Collection[int]) -> dict[int, int]:
    """Count the groups of each cluster."""
    statement = (
        select(broker_groups.c.cluster_id, func.count())
        .where(broker_groups.c.cluster_id.in_(cluster_ids))
        .group_by(broker_groups.c.cluster_id)
    )
    counted = {row[0]: row[1] for row in await connection.execute(statement)}
    return {cluster_id: counted.get(cluster_id, 0) for cluster_id in cluster_ids}


def _select() -> Select[Any]:
    return select(
        broker_groups.c.id,
        broker_groups.c.name,
        broker_groups.c.mode,
        broker_groups.c.acting_id,
        broker_groups.c.acting_since,
        clusters.c.name.label("cluster_name"),
    ).select_from(broker_groups.join(clusters))


def _group(row: Mapping[Any, Any]) -> BrokerGroup:
    return BrokerGroup(
        id=row["id"],
        cluster_name=row["cluster_name"],
        name=row["name"],
        mode=GroupMode(row["mode"]),
        acting_id=row["acting_id"],
        acting_since=row["acting_since"],
    )
