"""List static topics, and count the logical queues that each broker group leads of them."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, select

from backend.db.engine import Connection
from backend.db.logical_queue_rows import NORMAL, PREPARED
from backend.db.logical_queue_tables import (
    logical_queue_changes,
    logical_queue_segments,
    static_topics,
)

_SEGMENT = logical_queue_segments.c


@dataclass(frozen=True, slots=True)
class GroupShare:
    """Hold how many logical queues of a topic a broker group leads, and its segments of them."""

    broker_group_name: str
    led_count: int
    segment_count: int


@dataclass(frozen=True, slots=True)
class ListedTopic:
    """Hold a static topic in a list; `change_id` is that of its unfinished change."""

    name: str
    epoch: int
    queue_count: int
    change_id: UUID | None
    shares: tuple[GroupShare, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Choose static topics of a cluster: a part of the name, or segments on a broker group."""

    cluster_name: str
    search: str
    broker_group_name: str | None

    @property
    def conditions(self) -> tuple[ColumnElement[bool], ...]:
        """Return what a static topic of the list fulfils."""
        topic = static_topics.c
        named = topic.name.icontains(self.search, autoescape=True)
        conditions = (topic.cluster_name == self.cluster_name, named)
        if self.broker_group_name is None:
            return conditions
        held = exists().where(
            _SEGMENT.topic_id == topic.id,
            _SEGMENT.broker_group_name == self.broker_group_name,
            _SEGMENT.state != PREPARED,
        )
        return (*conditions, held)


async def count(connection: Connection, wanted: Wanted) -> int:
    """Count the static topics of a list."""
    statement = select(func.count()).select_from(static_topics).where(*wanted.conditions)
    return int(await connection.scalar(statement) or 0)


async def list_topics(
    connection: Connection, wanted: Wanted, *, after: str | None, limit: int
) -> list[ListedTopic]:
    """List static topics by name."""
    topic, change = static_topics.c, logical_queue_changes.c
    unfinished = and_(
        change.cluster_name == topic.cluster_name,
        change.topic_name == topic.name,
        change.ended_at.is_(None),
    )
    statement = (
        select(topic.id, topic.name, topic.epoch, change.id.label("change_id"))
        .select_from(static_topics.outerjoin(logical_queue_changes, unfinished))
        .where(*wanted.conditions)
        .order_by(topic.name)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(topic.name > after)
    rows = (await connection.execute(statement)).all()
    ids = [row.id for row in rows]
    counts, shares = await _count_queues(connection, ids), await _list_shares(connection, ids)
    return [
        ListedTopic(
            row.name, row.epoch, counts.get(row.id, 0), row.change_id, tuple(shares[row.id])
        )
        for row in rows
    ]


async def _count_queues(connection: Connection, topic_ids: Collection[int]) -> dict[int, int]:
    statement = (
        select(_SEGMENT.topic_id, func.count(_SEGMENT.global_id.distinct()))
        .where(_SEGMENT.topic_id.in_(topic_ids), _SEGMENT.state != PREPARED)
        .group_by(_SEGMENT.topic_id)
    )
    return {row[0]: row[1] for row in await connection.execute(statement)}


async def _list_shares(
    connection: Connection, topic_ids: Collection[int]
) -> dict[int, list[GroupShare]]:
    """Return the shares of broker groups by name, of each topic; a segment is led or older."""
    led = func.count().filter(_SEGMENT.state == NORMAL)
    statement = (
        select(_SEGMENT.topic_id, _SEGMENT.broker_group_name, led, func.count())
        .where(_SEGMENT.topic_id.in_(topic_ids), _SEGMENT.state != PREPARED)
        .group_by(_SEGMENT.topic_id, _SEGMENT.broker_group_name)
        .order_by(_SEGMENT.topic_id, _SEGMENT.broker_group_name)
    )
    found: dict[int, list[GroupShare]] = {topic_id: [] for topic_id in topic_ids}
    for topic_id, *share in await connection.execute(statement):
        found[topic_id].append(GroupShare(*share))
    return found
