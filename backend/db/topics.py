"""Keep topics and what each broker group holds of them."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import insert

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.tables import broker_groups, clusters, topic_placements, topics
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import TopicNotFound
from backend.domain.topic import (
    DEAD_LETTER_PREFIX,
    REPLY_SUFFIX,
    RETRY_PREFIX,
    SYSTEM_PREFIX,
    SYSTEM_TOPIC_NAMES,
    Permission,
    QueueSettings,
    Topic,
    TopicKind,
    TopicPlacement,
)

# A statement carries 65 535 parameters at most.
ROWS_PER_STATEMENT: Final = 1_000


async def save_placements(
    connection: Connection,
    *,
    cluster_id: int,
    broker_group_id: int,
    placements: Mapping[str, QueueSettings],
) -> bool:
    """Note what a group holds of some topics; tell whether anything was different before.

    Topics that are not named stay as they are: absence in a copy is never deletion.
    """
    # Rows are locked in key order, so that two writers can't wait for each other.
    names = sorted(placements)
    is_changed = False
    for start in range(0, len(names), ROWS_PER_STATEMENT):
        part = names[start : start + ROWS_PER_STATEMENT]
        ids = await _find_or_add(connection, cluster_id, part)
        rows = [_placement_row(ids[name], broker_group_id, placements[name]) for name in part]
        is_changed |= await _save_rows(connection, rows)
    return is_changed


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


async def _save_rows(connection: Connection, rows: list[dict[str, object]]) -> bool:
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
    written = await connection.execute(upsert.returning(topic_placements.c.topic_id))
    return written.first() is not None


async def remove_placements(
    connection: Connection, cluster_name: str, topic_name: str, group_names: Collection[str]
) -> None:
    """Remove what some groups held of a topic, and the topic once nobody holds it."""
    topic_id = (
        select(topics.c.id)
        .select_from(topics.join(clusters))
        .where(clusters.c.name == cluster_name, topics.c.name == topic_name)
        .scalar_subquery()
    )
    of_groups = (
        select(broker_groups.c.id)
        .select_from(broker_groups.join(clusters))
        .where(clusters.c.name == cluster_name, broker_groups.c.name.in_(group_names))
    )
    await connection.execute(
        delete(topic_placements).where(
            topic_placements.c.topic_id == topic_id,
            topic_placements.c.broker_group_id.in_(of_groups),
        )
    )
    is_held = exists().where(topic_placements.c.topic_id == topics.c.id)
    await connection.execute(delete(topics).where(topics.c.id == topic_id, ~is_held))


async def remove(connection: Connection, topic_name: str, *, cluster_name: str | None) -> list[int]:
    """Remove a topic from one cluster or from all; return the ids of clusters that held it."""
    doomed = select(topics.c.id).where(topics.c.name == topic_name)
    if cluster_name is not None:
        doomed = doomed.join(clusters).where(clusters.c.name == cluster_name)
    ids = [row.id for row in await connection.execute(doomed.order_by(topics.c.id))]
    await connection.execute(delete(topic_placements).where(topic_placements.c.topic_id.in_(ids)))
    removed = await connection.execute(
        delete(topics).where(topics.c.id.in_(ids)).returning(topics.c.cluster_id)
    )
    return sorted(row.cluster_id for row in removed)


async def get(connection: Connection, cluster_name: str, topic_name: str) -> Topic:
    """Return a cluster's topic of a name.

    Raises:
        TopicNotFound: the cluster holds none.
    """
    statement = _select().where(clusters.c.name == cluster_name, topics.c.name == topic_name)
    row = (await connection.execute(statement)).mappings().first()
    if row is None:
        raise TopicNotFound(cluster_name, topic_name)
    return _topic(row)


async def list_of_name(
    connection: Connection, topic_name: str, *, within: ClusterScope
) -> list[Topic]:
    """List the topics of a name, which different clusters within reach may hold, by cluster."""
    conditions = (topics.c.name == topic_name, *reached(within, clusters.c.name))
    statement = _select().where(*conditions).order_by(clusters.c.name)
    return [_topic(row) for row in (await connection.execute(statement)).mappings()]


async def list_holders(
    connection: Connection, cluster_name: str, topic_names: Collection[str]
) -> dict[str, frozenset[str]]:
    """Name the broker groups that hold each of some topics; one that nobody holds has none."""
    statement = (
        select(topics.c.name, broker_groups.c.name)
        .select_from(topic_placements.join(topics).join(clusters))
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .where(clusters.c.name == cluster_name, topics.c.name.in_(topic_names))
    )
    found: dict[str, set[str]] = {name: set() for name in topic_names}
    for topic_name, group_name in await connection.execute(statement):
        found[topic_name].add(group_name)
    return {name: frozenset(groups) for name, groups in found.items()}


async def list_of_clusters(
    connection: Connection,
    cluster_ids: Collection[int],
    *,
    search: str | None,
    kind: TopicKind | None,
    after: str | None,
    limit: int,
) -> dict[int, list[Topic]]:
    """List the first topics of each cluster by name, all clusters in one statement."""
    wanted = select(clusters.c.id).where(clusters.c.id.in_(cluster_ids)).subquery("wanted")
    matching = _select().where(topics.c.cluster_id == wanted.c.id, _matches(search, kind))
    if after is not None:
        matching = matching.where(topics.c.name > after)
    page = matching.order_by(topics.c.name).limit(limit).lateral("page")
    statement = (
        select(wanted.c.id.label("wanted_id"), *page.c)
        .select_from(wanted.join(page, true()))
        .order_by(wanted.c.id, page.c.name)
    )
    found: dict[int, list[Topic]] = {cluster_id: [] for cluster_id in cluster_ids}
    for row in (await connection.execute(statement)).mappings():
        found[row["wanted_id"]].append(_topic(row))
    return found


async def count_of_clusters(
    connection: Connection,
    cluster_ids: Collection[int],
    *,
    search: str | None,
    kind: TopicKind | None,
) -> dict[int, int]:
    """Count the topics of each cluster that a list would hold in all."""
    statement = (
        select(topics.c.cluster_id, func.count())
        .select_from(topics.join(clusters))
        .where(topics.c.cluster_id.in_(cluster_ids), _matches(search, kind))
        .group_by(topics.c.cluster_id)
    )
    counted = {row[0]: row[1] for row in await connection.execute(statement)}
    return {cluster_id: counted.get(cluster_id, 0) for cluster_id in cluster_ids}


async def count_of_group(connection: Connection, cluster_name: str, group_name: str) -> int:
    """Count the topics that have queues on a broker group."""
    statement = (
        select(func.count())
        .select_from(topic_placements)
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .join(clusters, clusters.c.id == broker_groups.c.cluster_id)
        .where(clusters.c.name == cluster_name, broker_groups.c.name == group_name)
    )
    return int(await connection.scalar(statement) or 0)


async def count_writable_of_group(
    connection: Connection, cluster_name: str, group_name: str
) -> int:
    """Count the topics that producers are sent to a broker group for."""
    statement = (
        select(func.count())
        .select_from(topic_placements)
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .join(clusters, clusters.c.id == broker_groups.c.cluster_id)
        .where(clusters.c.name == cluster_name, broker_groups.c.name == group_name, _is_writable())
    )
    return int(await connection.scalar(statement) or 0)


async def list_writable_only_on(
    connection: Connection, cluster_name: str, group_name: str, *, limit: int
) -> list[str]:
    """List the normal topics that can be written on one broker group and on no other."""
    # Not under its own name, by which the kind of a topic is looked up.
    group, elsewhere = broker_groups.alias("own_group"), topic_placements.alias("elsewhere")
    statement = (
        select(topics.c.name)
        .select_from(topics)
        .join(clusters, clusters.c.id == topics.c.cluster_id)
        .join(topic_placements, topic_placements.c.topic_id == topics.c.id)
        .join(group, group.c.id == topic_placements.c.broker_group_id)
        .where(
            clusters.c.name == cluster_name,
            group.c.name == group_name,
            _is_writable(),
            _kind() == TopicKind.NORMAL,
            ~exists().where(
                elsewhere.c.topic_id == topics.c.id,
                elsewhere.c.broker_group_id != group.c.id,
                elsewhere.c.permissions.bitwise_and(int(Permission.WRITE)) != 0,
            ),
        )
        .order_by(topics.c.name)
        .limit(limit)
    )
    return [row.name for row in await connection.execute(statement)]


async def remove_of_group(connection: Connection, broker_group_id: int) -> None:
    """Forget what a group held of topics, and topics that are held nowhere then."""
    emptied = await connection.execute(
        delete(topic_placements)
        .where(topic_placements.c.broker_group_id == broker_group_id)
        .returning(topic_placements.c.topic_id)
    )
    ids = [row.topic_id for row in emptied]
    is_held = exists().where(topic_placements.c.topic_id == topics.c.id)
    await connection.execute(delete(topics).where(topics.c.id.in_(ids), ~is_held))


def _is_writable() -> ColumnElement[bool]:
    return topic_placements.c.permissions.bitwise_and(int(Permission.WRITE)) != 0


async def list_placements(
    connection: Connection, topic_ids: Collection[int]
) -> dict[int, list[TopicPlacement]]:
    """List where each topic is held, by group, all topics in one statement."""
    statement = (
        select(topic_placements, broker_groups.c.name.label("group_name"))
        .select_from(topic_placements.join(broker_groups))
        .where(topic_placements.c.topic_id.in_(topic_ids))
        .order_by(topic_placements.c.topic_id, broker_groups.c.name)
    )
    found: dict[int, list[TopicPlacement]] = {topic_id: [] for topic_id in topic_ids}
    for row in (await connection.execute(statement)).mappings():
        settings = QueueSettings(
            read_queue_count=row["read_queue_count"],
            write_queue_count=row["write_queue_count"],
            permissions=row["permissions"],
            topic_sys_flag=row["topic_sys_flag"],
            is_ordered=row["is_ordered"],
        )
        found[row["topic_id"]].append(TopicPlacement(row["topic_id"], row["group_name"], settings))
    return found


async def list_groups_of(connection: Connection, cluster_name: str, topic_name: str) -> list[str]:
    """Name the broker groups that hold a topic, as they last registered."""
    statement = (
        select(broker_groups.c.name)
        .select_from(topic_placements.join(broker_groups).join(clusters))
        .join(topics, topics.c.id == topic_placements.c.topic_id)
        .where(clusters.c.name == cluster_name, topics.c.name == topic_name)
        .order_by(broker_groups.c.name)
    )
    return [row.name for row in await connection.execute(statement)]


def _kind() -> ColumnElement[str]:
    """Say `domain.topic.topic_kind` in SQL; a test holds the two together."""
    is_group_name = exists().where(
        and_(
            broker_groups.c.cluster_id == topics.c.cluster_id,
            broker_groups.c.name == topics.c.name,
        )
    )
    is_system = or_(
        topics.c.name.in_(sorted(SYSTEM_TOPIC_NAMES)),
        topics.c.name.startswith(SYSTEM_PREFIX, autoescape=True),
        topics.c.name == clusters.c.name,
        topics.c.name == clusters.c.name + REPLY_SUFFIX,
        is_group_name,
    )
    return case(
        (topics.c.name.startswith(RETRY_PREFIX, autoescape=True), literal(TopicKind.RETRY.value)),
        (
            topics.c.name.startswith(DEAD_LETTER_PREFIX, autoescape=True),
            literal(TopicKind.DEAD_LETTER.value),
        ),
        (is_system, literal(TopicKind.SYSTEM.value)),
        else_=literal(TopicKind.NORMAL.value),
    )


def _matches(search: str | None, kind: TopicKind | None) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [true()]
    if search:
        conditions.append(topics.c.name.icontains(search, autoescape=True))
    if kind is not None:
        conditions.append(_kind() == kind.value)
    return and_(*conditions)


def _select() -> Select[Any]:
    return select(
        topics.c.id,
        clusters.c.name.label("cluster_name"),
        topics.c.name,
        _kind().label("kind"),
    ).select_from(topics.join(clusters))


def _topic(row: Mapping[Any, Any]) -> Topic:
    return Topic(
        id=row["id"],
        cluster_name=row["cluster_name"],
        name=row["name"],
        kind=TopicKind(row["kind"]),
    )


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
    }
