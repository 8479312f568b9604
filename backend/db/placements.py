"""Store and remove the placements of topics on broker groups, and return the differences."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Boolean, delete, exists, literal_column, or_, select
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.tables import broker_groups, clusters, topic_placements, topics
from backend.domain.topic import QueueSettings

# A statement carries 65 535 parameters at most.
ROWS_PER_STATEMENT: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlacementChanges:
    """Hold the new topics of a broker group, and the topics with changed settings."""

    placed: frozenset[str]
    changed: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.placed or self.changed)


async def save(
    connection: Connection,
    *,
    cluster_id: int,
    broker_group_id: int,
    placements: Mapping[str, QueueSettings],
) -> PlacementChanges:
    """Store the placements of topics on a group, and return the differences.

    Topics that are not named do not change: a missing topic is never a deletion.
    """
    # Rows are locked in key order, so that two writers can't block each other.
    names = sorted(placements)
    placed, changed = set[str](), set[str]()
    for start in range(0, len(names), ROWS_PER_STATEMENT):
        part = names[start : start + ROWS_PER_STATEMENT]
        ids = await _find_or_add(connection, cluster_id, part)
        rows = [_placement_row(ids[name], broker_group_id, placements[name]) for name in part]
        is_new = await _save_rows(connection, rows)
        for name in part:
            if ids[name] in is_new:
                (placed if is_new[ids[name]] else changed).add(name)
    return PlacementChanges(frozenset(placed), frozenset(changed))


async def _find_or_add(
    connection: Connection, cluster_id: int, names: Collection[str]
) -> dict[str, int]:
    known = select(topics.c.name, topics.c.id).where(
        topics.c.cluster_id == cluster_id, topics.c.name.in_(names)
    )
    ids = {row.name: row.id for row in await connection.execute(known)}
    missing = [{"cluster_id": cluster_id, "name": name} for name in names if name not in ids]
    if missing:
        statement = insert(topics).values(missing)
        upsert = statement.on_conflict_do_update(
            index_elements=[topics.c.cluster_id, topics.c.name],
            set_={"name": statement.excluded.name},
        ).returning(topics.c.name, topics.c.id)
        ids.update({row.name: row.id for row in await connection.execute(upsert)})
    return ids


async def _save_rows(connection: Connection, rows: list[dict[str, object]]) -> dict[int, bool]:
    """Store placements; return by the id of each written one whether it is new."""
    statement = insert(topic_placements).values(rows)
    columns = [column.name for column in topic_placements.c if not column.primary_key]
    upsert = statement.on_conflict_do_update(
        index_elements=list(topic_placements.primary_key),
        set_={name: statement.excluded[name] for name in columns},
        where=or_(
            *(
                topic_placements.c[name].is_distinct_from(statement.excluded[name])
                for name in columns
            )
        ),
    )
    # A row that an update has made holds the id of the transaction that locked the one before.
    is_new = literal_column("xmax = 0", Boolean)
    written = await connection.execute(upsert.returning(topic_placements.c.topic_id, is_new))
    return dict(written.all())


async def remove(
    connection: Connection, cluster_name: str, topic_name: str, broker_group_names: Collection[str]
) -> list[str]:
    """Remove the placements of a topic on some groups, and the topic after its last placement.

    Return the names of the groups that held it.
    """
    topic_id = (
        select(topics.c.id)
        .select_from(topics.join(clusters))
        .where(clusters.c.name == cluster_name, topics.c.name == topic_name)
        .scalar_subquery()
    )
    removed = await connection.execute(
        delete(topic_placements)
        .where(
            topic_placements.c.topic_id == topic_id,
            topic_placements.c.broker_group_id == broker_groups.c.id,
            broker_groups.c.name.in_(broker_group_names),
        )
        .returning(broker_groups.c.name)
    )
    held = sorted(removed.scalars())
    is_held = exists().where(topic_placements.c.topic_id == topics.c.id)
    await connection.execute(delete(topics).where(topics.c.id == topic_id, ~is_held))
    return held


async def remove_topic(
    connection: Connection, topic_name: str, *, cluster_name: str | None
) -> dict[int, list[tuple[str, str]]]:
    """Remove a topic from one cluster or from all.

    Return by its id each cluster that held it, with the cluster's name and that of each group.
    """
    doomed = select(topics.c.id).where(topics.c.name == topic_name)
    if cluster_name is not None:
        doomed = doomed.join(clusters).where(clusters.c.name == cluster_name)
    ids = [row.id for row in await connection.execute(doomed.order_by(topics.c.id))]
    places = await connection.execute(
        delete(topic_placements)
        .where(
            topic_placements.c.topic_id.in_(ids),
            topic_placements.c.broker_group_id == broker_groups.c.id,
            broker_groups.c.cluster_id == clusters.c.id,
        )
        .returning(clusters.c.id, clusters.c.name, broker_groups.c.name)
    )
    held = places.all()
    removed = await connection.execute(
        delete(topics).where(topics.c.id.in_(ids)).returning(topics.c.cluster_id)
    )
    return {
        cluster_id: sorted(
            (cluster, group) for of_id, cluster, group in held if of_id == cluster_id
        )
        for cluster_id in sorted(removed.scalars())
    }


async def remove_of_group(connection: Connection, broker_group_id: int) -> list[str]:
    """Remove all placements on a group, and topics without a placement; return their names."""
    emptied = await connection.execute(
        delete(topic_placements)
        .where(
            topic_placements.c.broker_group_id == broker_group_id,
            topic_placements.c.topic_id == topics.c.id,
        )
        .returning(topics.c.id, topics.c.name)
    )
    names = dict(emptied.all())
    is_held = exists().where(topic_placements.c.topic_id == topics.c.id)
    await connection.execute(delete(topics).where(topics.c.id.in_(names), ~is_held))
    return sorted(names.values())


def _placement_row(
    topic_id: int, broker_group_id: int, settings: QueueSettings
) -> dict[str, object]:
    return {
        "topic_id": topic_id,
        "broker_group_id": broker_group_id,
        "read_queue_count": settings.read_queue_count,
        "write_queue_count": settings.write_queue_count,
        "permissions": settings.permissions,
        "is_ordered": settings.is_ordered,
        "topic_sys_flag": settings.topic_sys_flag,
        "attributes": dict(settings.attributes),
    }
