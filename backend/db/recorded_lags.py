"""Store the lag of consumer groups when their masters were last asked."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Delete, Select, delete, distinct, func, insert, select, text, tuple_

from backend.db.engine import Connection
from backend.db.logical_queue_tables import logical_queue_segments, static_topics
from backend.db.maintenance_tables import recorded_lags
from backend.db.tables import clusters, topic_placements, topics
from backend.domain.recorded_lag import RecordedLag, ReportedGroupLag

LagKey = tuple[str, str]
_ROWS_AT_ONCE: Final = 1_000
_FORGET = text("""
DELETE FROM recorded_lags l
 WHERE NOT EXISTS (
       SELECT FROM broker_groups b JOIN clusters c ON c.id = b.cluster_id
        WHERE c.name = l.cluster_name AND b.name = l.broker_group_name)
""")


async def replace(
    connection: Connection,
    cluster_name: str,
    broker_group_name: str,
    lags: Sequence[ReportedGroupLag],
    *,
    spared: Collection[str] = (),
    at: datetime,
) -> None:
    """Replace the former report of the master of a broker group, without that of spared topics."""
    columns = recorded_lags.c
    former = delete(recorded_lags).where(
        columns.cluster_name == cluster_name,
        columns.broker_group_name == broker_group_name,
        columns.topic_name.not_in(spared),
    )
    await _replace(connection, former, cluster_name, broker_group_name, lags, at=at)


async def replace_topic(
    connection: Connection,
    cluster_name: str,
    broker_group_name: str,
    topic_name: str,
    lags: Sequence[ReportedGroupLag],
    *,
    at: datetime,
) -> None:
    """Replace the lag in the logical queues of a topic that a broker group leads."""
    columns = recorded_lags.c
    former = delete(recorded_lags).where(
        columns.cluster_name == cluster_name,
        columns.broker_group_name == broker_group_name,
        columns.topic_name == topic_name,
    )
    await _replace(connection, former, cluster_name, broker_group_name, lags, at=at)


async def _replace(
    connection: Connection,
    former: Delete,
    cluster_name: str,
    broker_group_name: str,
    lags: Sequence[ReportedGroupLag],
    *,
    at: datetime,
) -> None:
    await connection.execute(former)
    names = {
        "cluster_name": cluster_name,
        "broker_group_name": broker_group_name,
        "measured_at": at,
    }
    rows = [asdict(one) | names for one in lags]
    for begin in range(0, len(rows), _ROWS_AT_ONCE):
        await connection.execute(insert(recorded_lags), rows[begin : begin + _ROWS_AT_ONCE])


async def forget_groups(connection: Connection) -> None:
    """Remove the reports of broker groups that no longer exist."""
    await connection.execute(_FORGET)


async def list_of_cluster(
    connection: Connection, cluster_name: str, *, after: LagKey | None, limit: int
) -> list[RecordedLag]:
    """List the lag of the groups of a cluster, by group and topic, from the first after `after`."""
    key = (recorded_lags.c.consumer_group_name, recorded_lags.c.topic_name)
    statement = _sums(cluster_name).order_by(*key).limit(limit)
    if after is not None:
        statement = statement.where(tuple_(*key) > after)
    return await _read(connection, statement)


async def list_of_topics(
    connection: Connection, cluster_name: str, topic_names: Collection[str]
) -> list[RecordedLag]:
    """List the lag of the groups that read some topics, by topic and group."""
    columns = recorded_lags.c
    statement = _sums(cluster_name).where(columns.topic_name.in_(topic_names))
    return await _read(
        connection, statement.order_by(columns.topic_name, columns.consumer_group_name)
    )


def _sums(cluster_name: str) -> Select[Any]:
    """Add up the reports of each group and topic, with the number of queues of the topic.

    Those of a static topic are its logical queues.
    """
    columns = recorded_lags.c
    logical_count = (
        select(func.count(distinct(logical_queue_segments.c.global_id)))
        .select_from(logical_queue_segments)
        .join(static_topics, static_topics.c.id == logical_queue_segments.c.topic_id)
        .where(
            static_topics.c.cluster_name == cluster_name,
            static_topics.c.name == columns.topic_name,
        )
        .scalar_subquery()
    )
    physical_count = (
        select(func.sum(topic_placements.c.read_queue_count))
        .select_from(topic_placements.join(topics).join(clusters))
        .where(clusters.c.name == cluster_name, topics.c.name == columns.topic_name)
        .scalar_subquery()
    )
    return (
        select(
            columns.consumer_group_name,
            columns.topic_name,
            func.sum(columns.queue_count),
            func.coalesce(func.nullif(logical_count, 0), physical_count),
            func.sum(columns.lag),
            func.min(columns.measured_at),
            func.sum(columns.expired_count),
        )
        .where(columns.cluster_name == cluster_name)
        .group_by(columns.consumer_group_name, columns.topic_name)
    )


async def _read(connection: Connection, statement: Select[Any]) -> list[RecordedLag]:
    return [
        RecordedLag(
            group,
            topic,
            int(broker),
            None if queues is None else int(queues),
            int(lag),
            at,
            int(expired),
        )
        for group, topic, broker, queues, lag, at, expired in await connection.execute(statement)
    ]


async def count_of_cluster(connection: Connection, cluster_name: str) -> int:
    """Count the pairs of group and topic of a cluster."""
    columns = recorded_lags.c
    pairs = (
        select(columns.consumer_group_name, columns.topic_name)
        .where(columns.cluster_name == cluster_name)
        .distinct()
        .subquery()
    )
    return int(await connection.scalar(select(func.count()).select_from(pairs)) or 0)
