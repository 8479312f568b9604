"""Store clusters and the versions of their routes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import FromClause, Select, Table, func, select
from sqlalchemy.dialects.postgresql import insert

from backend.db import brokers as broker_rows
from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.tables import broker_groups, brokers, clusters, replicas, route_versions, topics
from backend.domain.broker import BrokerState
from backend.domain.cluster import Cluster, ClusterCounts
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import ClusterNotFound


async def find_or_add(connection: Connection, name: str, *, at: datetime) -> int:
    """Return the id of the cluster of a name; add the cluster if it is new."""
    found = await connection.scalar(select(clusters.c.id).where(clusters.c.name == name))
    if found is not None:
        return int(found)
    statement = insert(clusters).values(name=name, created_at=at)
    # Updating the name to itself also returns the row of a concurrent transaction.
    upsert = statement.on_conflict_do_update(
        index_elements=[clusters.c.name], set_={"name": statement.excluded.name}
    )
    added = await connection.execute(upsert.returning(clusters.c.id))
    return int(added.scalar_one())


async def raise_route_version(connection: Connection, cluster_id: int, *, at: datetime) -> int:
    """Increase the version of the routes of a cluster, and return it."""
    statement = insert(route_versions).values(cluster_id=cluster_id, version=1, changed_at=at)
    upsert = statement.on_conflict_do_update(
        index_elements=[route_versions.c.cluster_id],
        set_={"version": route_versions.c.version + 1, "changed_at": at},
    )
    raised = await connection.execute(upsert.returning(route_versions.c.version))
    return int(raised.scalar_one())


async def get(connection: Connection, name: str) -> Cluster:
    """Return the cluster of a name.

    Raises:
        ClusterNotFound: there is none.
    """
    row = (await connection.execute(_select().where(clusters.c.name == name))).mappings().first()
    if row is None:
        raise ClusterNotFound(name)
    return _cluster(row)


async def list_after(
    connection: Connection, *, after: str | None, within: ClusterScope, limit: int
) -> list[Cluster]:
    """List clusters within reach by name, from the first name past `after`."""
    statement = _select().where(*reached(within, clusters.c.name))
    statement = statement.order_by(clusters.c.name).limit(limit)
    if after is not None:
        statement = statement.where(clusters.c.name > after)
    return [_cluster(row) for row in (await connection.execute(statement)).mappings()]


async def count(connection: Connection, *, within: ClusterScope) -> int:
    """Count clusters within reach."""
    statement = _counted(clusters, within)
    return int(await connection.scalar(statement) or 0)


async def count_clusters(connection: Connection, *, within: ClusterScope) -> ClusterCounts:
    """Count the objects of all clusters within reach, in one statement.

    A replica that only a controller knows is a broker that is not online.
    """
    online = brokers.c.state == BrokerState.ONLINE
    of_groups, of_brokers = _counted(broker_groups, within), _counted(brokers, within)
    statement = select(
        _counted(clusters, within).scalar_subquery().label("cluster_count"),
        of_groups.scalar_subquery().label("group_count"),
        of_brokers.scalar_subquery().label("broker_count"),
        of_brokers.where(online).scalar_subquery().label("online"),
        _counted(replicas, within)
        .where(broker_rows.is_unregistered())
        .scalar_subquery()
        .label("missing_count"),
        _counted(topics, within).scalar_subquery().label("topic_count"),
    )
    row = (await connection.execute(statement)).one()
    return ClusterCounts(
        cluster_count=row.cluster_count,
        broker_group_count=row.group_count,
        broker_count=row.broker_count + row.missing_count,
        online_broker_count=row.online,
        topic_count=row.topic_count,
    )


def _counted(table: Table, within: ClusterScope) -> Select[Any]:
    """Count the rows of a table of clusters, or of objects of clusters or broker groups."""
    source: FromClause = table
    if within.is_limited and table is brokers:
        source = source.join(broker_groups)
    if within.is_limited and table is replicas:
        source = source.join(broker_groups, broker_groups.c.id == replicas.c.broker_group_id)
    if within.is_limited and table is not clusters:
        source = source.join(clusters)
    reach = reached(within, clusters.c.name)
    return select(func.count()).select_from(source).where(*reach)


def _select() -> Select[Any]:
    return select(
        clusters.c.id,
        clusters.c.name,
        clusters.c.created_at,
        func.coalesce(route_versions.c.version, 0).label("route_version"),
    ).select_from(clusters.outerjoin(route_versions))


def _cluster(row: Mapping[Any, Any]) -> Cluster:
    return Cluster(
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        route_version=row["route_version"],
    )
