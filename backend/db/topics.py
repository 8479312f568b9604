"""Read topics and what each broker group holds of them (written in `placements.py`)."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    exists,
    func,
    literal,
    or_,
    select,
    true,
)

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.tables import broker_groups, brokers, clusters, topic_placements, topics
from backend.domain.broker import MASTER_ID, BrokerState
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import TopicNotFound
from backend.domain.topic import (
    REPLY_SUFFIX,
    SYSTEM_PREFIX,
    SYSTEM_TOPIC_NAMES,
    Permission,
    QueueSettings,
    Topic,
    TopicKind,
    TopicPlacement,
    kept_attributes,
)
from backend.rules.attributes import REPLICATE
from backend.rules.topic import DEAD_LETTER_PREFIX, RETRY_PREFIX


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
    """Name the broker groups that hold each of some topics, perhaps none."""
    statement = (
        select(topics.c.name, broker_groups.c.name)
        .select_from(topic_placements.join(topics).join(clusters))
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .where(clusters.c.name == cluster_name, topics.c.name.in_(topic_names))
    )
    found: dict[str, set[str]] = {name: set() for name in topic_names}
    for topic_name, broker_group_name in await connection.execute(statement):
        found[topic_name].add(broker_group_name)
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


async def count_of_group(connection: Connection, cluster_name: str, broker_group_name: str) -> int:
    """Count the topics that have queues on a broker group."""
    statement = (
        select(func.count())
        .select_from(topic_placements)
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .join(clusters, clusters.c.id == broker_groups.c.cluster_id)
        .where(clusters.c.name == cluster_name, broker_groups.c.name == broker_group_name)
    )
    return int(await connection.scalar(statement) or 0)


async def count_writable_of_group(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> int:
    """Count the topics that producers are sent to a broker group for."""
    statement = (
        select(func.count())
        .select_from(topic_placements)
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .join(clusters, clusters.c.id == broker_groups.c.cluster_id)
        .where(
            clusters.c.name == cluster_name,
            broker_groups.c.name == broker_group_name,
            _is_writable(),
        )
    )
    return int(await connection.scalar(statement) or 0)


async def list_writable_only_on(
    connection: Connection, cluster_name: str, broker_group_name: str, *, limit: int
) -> list[str]:
    """List the normal topics that can be written on one broker group and on no other now.

    A group whose master is away takes no sends, whatever it last registered.
    """
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
            group.c.name == broker_group_name,
            _is_writable(),
            _kind() == TopicKind.NORMAL,
            ~exists().where(
                elsewhere.c.topic_id == topics.c.id,
                elsewhere.c.broker_group_id != group.c.id,
                elsewhere.c.permissions.bitwise_and(int(Permission.WRITE)) != 0,
                brokers.c.broker_group_id == elsewhere.c.broker_group_id,
                brokers.c.broker_id == MASTER_ID,
                brokers.c.state == BrokerState.ONLINE,
            ),
        )
        .order_by(topics.c.name)
        .limit(limit)
    )
    return [row.name for row in await connection.execute(statement)]


def _is_writable() -> ColumnElement[bool]:
    return topic_placements.c.permissions.bitwise_and(int(Permission.WRITE)) != 0


async def list_unreplicated(
    connection: Connection, cluster_name: str, broker_group_name: str, *, limit: int
) -> list[str]:
    """Name the topics of a broker group whose messages replicas do not copy."""
    statement = (
        select(topics.c.name)
        .select_from(topic_placements.join(topics).join(clusters))
        .join(broker_groups, broker_groups.c.id == topic_placements.c.broker_group_id)
        .where(
            clusters.c.name == cluster_name,
            broker_groups.c.name == broker_group_name,
            func.lower(topic_placements.c.attributes[REPLICATE].astext) == "false",
        )
        .order_by(topics.c.name)
        .limit(limit)
    )
    return list((await connection.execute(statement)).scalars())


async def list_placements(
    connection: Connection, topic_ids: Collection[int]
) -> dict[int, list[TopicPlacement]]:
    """List where each topic is held, by group, all topics in one statement."""
    statement = (
        select(topic_placements, broker_groups.c.name.label("broker_group_name"))
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
            attributes=kept_attributes(row["attributes"]),
        )
        found[row["topic_id"]].append(
            TopicPlacement(row["topic_id"], row["broker_group_name"], settings)
        )
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
