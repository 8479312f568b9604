"""Store static topics and changes of their logical queues (logical-queues.md 2.8).

A change is decided from the mapping of a locked topic. It is written only if the epoch and the
version of the topic have not changed since.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Table,
    delete,
    exists,
    func,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import distinct_on, insert

from backend.db.engine import Connection
from backend.db.logical_queue_rows import (
    COUNT_KEY,
    PREPARED,
    RETIRED_KEY,
    SEGMENT_KEY,
    Row,
    TopicRows,
    keyed,
    rows_of,
    topic_of,
)
from backend.db.logical_queue_tables import (
    logical_queue_changes,
    logical_queue_segments,
    retired_queues,
    static_topic_queue_counts,
    static_topics,
)
from backend.domain.logical_queue.change import ChangeKind, ChangeState, QueueChange, QueueMove
from backend.domain.logical_queue.errors import (
    QueueMappingMoved,
    StaticTopicExists,
    StaticTopicNotFound,
)
from backend.domain.logical_queue.mapping import TopicMapping

SegmentKey = tuple[int, int]
"""A global id and a generation."""

ROWS_PER_STATEMENT: Final = 1_000
_HEAD: Final = ("scope", "epoch", "offset_mode", "block_size", "ended_queues")
# One statement, so that all parts are of one moment.
_FIND: Final = text(
    """
SELECT topic.*,
       (SELECT coalesce(jsonb_agg(to_jsonb(one)), '[]')
          FROM static_topic_queue_counts one WHERE one.topic_id = topic.id) AS counts,
       (SELECT coalesce(jsonb_agg(to_jsonb(one)), '[]')
          FROM logical_queue_segments one WHERE one.topic_id = topic.id) AS segments,
       (SELECT coalesce(
                 jsonb_agg(to_jsonb(one) ORDER BY retired_at, broker_group_name, queue_id), '[]')
          FROM retired_queues one WHERE one.topic_id = topic.id) AS retired,
       (SELECT to_jsonb(one) FROM logical_queue_changes one
         WHERE one.cluster_name = topic.cluster_name
           AND one.topic_name = topic.name AND one.ended_at IS NULL) AS unfinished
  FROM static_topics topic
 WHERE (topic.cluster_name, topic.name) IN (
         SELECT * FROM unnest(CAST(:cluster_names AS text[]), CAST(:topic_names AS text[])))
"""
)


@dataclass(frozen=True, slots=True)
class StoredChange:
    """Hold a change with its id, which is that of its operation, and its times."""

    id: UUID
    change: QueueChange
    began_at: datetime
    changed_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredTopic:
    """Hold a static topic: its mapping, and its unfinished change if there is one.

    `version` grows with every write. `empty_since` is since when segments are seen without a
    message, by global id and generation.
    """

    id: int
    cluster_name: str
    mapping: TopicMapping
    version: int
    unfinished: StoredChange | None = None
    empty_since: Mapping[SegmentKey, datetime] = field(default_factory=dict)

    @property
    def moves(self) -> Sequence[QueueMove]:
        """Return the moves of the unfinished change."""
        return () if self.unfinished is None else self.unfinished.change.moves


async def find(connection: Connection, cluster_name: str, topic_name: str) -> StoredTopic | None:
    """Return a static topic, as one statement sees it."""
    found = await list_of_names(connection, cluster_name, [topic_name])
    return next(iter(found), None)


async def list_of_names(
    connection: Connection, cluster_name: str, topic_names: Iterable[str]
) -> list[StoredTopic]:
    """List those of some topics of a cluster that are static."""
    return await list_of_keys(connection, [(cluster_name, one) for one in topic_names])


async def list_of_keys(
    connection: Connection, keys: Iterable[tuple[str, str]]
) -> list[StoredTopic]:
    """List those of some topics that are static; a key is a cluster's name and a topic's."""
    wanted = sorted(set(keys))
    names = {
        "cluster_names": [cluster_name for cluster_name, _ in wanted],
        "topic_names": [topic_name for _, topic_name in wanted],
    }
    return [_topic_of(row) for row in (await connection.execute(_FIND, names)).mappings()]


async def get(connection: Connection, cluster_name: str, topic_name: str) -> StoredTopic:
    """Return a static topic.

    Raises:
        StaticTopicNotFound: the cluster has none of the name.
    """
    found = await find(connection, cluster_name, topic_name)
    if found is None:
        raise StaticTopicNotFound(cluster_name, topic_name)
    return found


async def lock(connection: Connection, cluster_name: str, topic_name: str) -> StoredTopic:
    """Lock a static topic until the transaction ends, and return it.

    Raises:
        StaticTopicNotFound: the cluster has none of the name.
    """
    found = await find_locked(connection, cluster_name, topic_name)
    if found is None:
        raise StaticTopicNotFound(cluster_name, topic_name)
    return found


async def find_locked(
    connection: Connection, cluster_name: str, topic_name: str
) -> StoredTopic | None:
    """Lock a static topic until the transaction ends, and return it, if there is one."""
    # In a separate statement: one that waits for the lock reads older rows of the other tables.
    wanted = (static_topics.c.cluster_name == cluster_name, static_topics.c.name == topic_name)
    await connection.execute(select(static_topics.c.id).where(*wanted).with_for_update())
    return await find(connection, cluster_name, topic_name)


async def is_static(connection: Connection, cluster_name: str, topic_name: str) -> bool:
    """Return whether a cluster has a static topic of the name."""
    wanted = (static_topics.c.cluster_name == cluster_name, static_topics.c.name == topic_name)
    return bool(await connection.scalar(select(exists().where(*wanted))))


async def list_names(connection: Connection) -> list[tuple[str, str]]:
    """List the static topics of all clusters by cluster and name."""
    names = select(static_topics.c.cluster_name, static_topics.c.name)
    listed = await connection.execute(names.order_by(*names.selected_columns))
    return [(cluster_name, name) for cluster_name, name in listed]


async def count_led_by(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> dict[str, int]:
    """Return how many logical queues a broker group leads, by static topic."""
    segments = logical_queue_segments.c
    last = (
        select(segments.topic_id, segments.global_id, segments.broker_group_name)
        .ext(distinct_on(segments.topic_id, segments.global_id))
        .where(segments.state != PREPARED)
        .order_by(segments.topic_id, segments.global_id, segments.generation.desc())
        .subquery()
    )
    counted = (
        select(static_topics.c.name, func.count().label("led_count"))
        .join(last, last.c.topic_id == static_topics.c.id)
        .where(
            static_topics.c.cluster_name == cluster_name,
            last.c.broker_group_name == broker_group_name,
        )
        .group_by(static_topics.c.name)
        .order_by(static_topics.c.name)
    )
    return {row.name: row.led_count for row in await connection.execute(counted)}


async def list_known_by(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> list[str]:
    """List the static topics of which a broker group has a mapping, with queues or without."""
    counts = static_topic_queue_counts.c
    listed = (
        select(static_topics.c.name)
        .join(static_topic_queue_counts, counts.topic_id == static_topics.c.id)
        .where(
            static_topics.c.cluster_name == cluster_name,
            counts.broker_group_name == broker_group_name,
        )
        .order_by(static_topics.c.name)
    )
    return list(await connection.scalars(listed))


async def list_changed_by(connection: Connection, change_id: UUID) -> list[str]:
    """List the topics whose logical queues an operation changed, in the order of the changes."""
    table = logical_queue_changes.c
    listed = select(table.topic_name).where(table.id == change_id)
    return list(await connection.scalars(listed.order_by(table.began_at, table.topic_name)))


async def list_epochs(
    connection: Connection, cluster_name: str, topic_names: Iterable[str]
) -> dict[str, int]:
    """List the epochs of some static topics of a cluster; unknown ones are left out."""
    columns = (static_topics.c.name, static_topics.c.epoch)
    wanted = select(*columns).where(
        static_topics.c.cluster_name == cluster_name,
        static_topics.c.name.in_(sorted(topic_names)),
    )
    rows = await connection.execute(wanted)
    return {row.name: row.epoch for row in rows}


async def list_all(connection: Connection) -> list[StoredTopic]:
    """List the static topics of all clusters."""
    by_cluster: dict[str, list[str]] = {}
    for cluster_name, name in await list_names(connection):
        by_cluster.setdefault(cluster_name, []).append(name)
    return [
        one
        for cluster_name, names in by_cluster.items()
        for one in await list_of_names(connection, cluster_name, names)
    ]


async def add(
    connection: Connection,
    cluster_name: str,
    topic: TopicMapping,
    moves: Sequence[QueueMove] = (),
    *,
    at: datetime,
) -> None:
    """Add a static topic, and what the moves of its change have prepared.

    Raises:
        StaticTopicExists: the cluster, or another one with the same queue set, has one of the name.
    """
    rows = rows_of(topic, moves)
    values = {**rows.head, "name": topic.topic_name, "cluster_name": cluster_name}
    statement = insert(static_topics).values(**values, version=1, created_at=at)
    added = statement.on_conflict_do_nothing().returning(static_topics.c.id)
    topic_id = await connection.scalar(added)
    if topic_id is None:
        raise StaticTopicExists(topic.topic_name)
    await _write(connection, topic_id, TopicRows({}, (), (), ()), rows, at=at)


async def save(
    connection: Connection,
    held: StoredTopic,
    topic: TopicMapping,
    moves: Sequence[QueueMove] = (),
    *,
    at: datetime,
) -> None:
    """Write another mapping of a topic, if it is still the one that was read.

    Raises:
        QueueMappingMoved: epoch or version of the topic are other ones.
    """
    rows = rows_of(topic, moves)
    moved = await connection.execute(
        update(static_topics)
        .where(
            static_topics.c.id == held.id,
            static_topics.c.epoch == held.mapping.epoch,
            static_topics.c.version == held.version,
        )
        .values(**rows.head, version=held.version + 1)
    )
    if moved.rowcount != 1:
        raise QueueMappingMoved(topic.topic_name, held.mapping.epoch)
    await _write(connection, held.id, rows_of(held.mapping, held.moves), rows, at=at)


async def note_empty(
    connection: Connection, held: StoredTopic, keys: Iterable[SegmentKey], *, since: datetime | None
) -> None:
    """Record since when segments are seen without a message; None: they may have one."""
    key = tuple_(logical_queue_segments.c.global_id, logical_queue_segments.c.generation)
    await connection.execute(
        update(logical_queue_segments)
        .where(logical_queue_segments.c.topic_id == held.id, key.in_(sorted(keys)))
        .values(empty_since=since)
    )


async def remove(connection: Connection, held: StoredTopic) -> None:
    """Remove a static topic, if it is still the one that was read; its changes stay.

    Raises:
        QueueMappingMoved: the topic was changed.
    """
    same = (static_topics.c.id == held.id, static_topics.c.version == held.version)
    removed = await connection.execute(delete(static_topics).where(*same))
    if removed.rowcount != 1:
        raise QueueMappingMoved(held.mapping.topic_name, held.mapping.epoch)


async def add_change(
    connection: Connection, cluster_name: str, change_id: UUID, change: QueueChange, *, at: datetime
) -> None:
    """Add a change; of a topic with an unfinished one the database refuses it."""
    values = {
        "id": change_id,
        "cluster_name": cluster_name,
        "topic_name": change.topic_name,
        "kind": change.kind,
        "before": asdict(rows_of(change.before)),
        "began_at": at,
    }
    progress = _progress_of(change, at=at)
    await connection.execute(insert(logical_queue_changes).values(**values, **progress))


async def save_change(
    connection: Connection, change_id: UUID, change: QueueChange, *, at: datetime
) -> None:
    """Write how far a change is; the topic of an unfinished one has to be locked."""
    await connection.execute(
        update(logical_queue_changes)
        .where(*_key_of(change_id, change.topic_name))
        .values(**_progress_of(change, at=at))
    )


async def find_change(
    connection: Connection, change_id: UUID, topic_name: str
) -> StoredChange | None:
    """Return the change of a topic by an operation, finished or not."""
    wanted = select(logical_queue_changes).where(*_key_of(change_id, topic_name))
    # A change that ends between the two statements is found finished the second time.
    for _ in range(2):
        row = (await connection.execute(wanted)).mappings().one_or_none()
        if row is None:
            return None
        if row["ended_at"] is not None:
            return _change_of(row, topic_of(row["topic_name"], TopicRows(**row["after"])))
        held = await find(connection, row["cluster_name"], row["topic_name"])
        if held is not None and held.unfinished is not None and held.unfinished.id == change_id:
            return held.unfinished
    return None


def _key_of(change_id: UUID, topic_name: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    table = logical_queue_changes.c
    return table.id == change_id, table.topic_name == topic_name


def _topic_of(row: RowMapping) -> StoredTopic:
    head = {name: row[name] for name in _HEAD}
    mapping = topic_of(row["name"], TopicRows(head, row["counts"], row["segments"], row["retired"]))
    unfinished = None
    if (stored := row["unfinished"]) is not None:
        times = {one: datetime.fromisoformat(stored[one]) for one in ("began_at", "changed_at")}
        unfinished = _change_of({**stored, **times, "id": UUID(stored["id"])}, mapping)
    empty_since = {
        (one["global_id"], one["generation"]): datetime.fromisoformat(one["empty_since"])
        for one in row["segments"]
        if one["empty_since"] is not None
    }
    return StoredTopic(
        row["id"], row["cluster_name"], mapping, row["version"], unfinished, empty_since
    )


def _change_of(row: Mapping[Any, Any], after: TopicMapping) -> StoredChange:
    change = QueueChange(
        kind=ChangeKind(row["kind"]),
        before=topic_of(row["topic_name"], TopicRows(**row["before"])),
        after=after,
        moves=tuple(msgspec.convert(row["moves"], list[QueueMove])),
        state=ChangeState(row["state"]),
        converged=frozenset(row["converged"]),
        stale=frozenset(row["stale"]),
    )
    return StoredChange(row["id"], change, row["began_at"], row["changed_at"], row["ended_at"])


def _progress_of(change: QueueChange, *, at: datetime) -> dict[str, Any]:
    after = asdict(rows_of(change.after)) if change.is_finished else None
    return {
        "epoch": change.epoch,
        "state": change.state,
        "after": after,
        "moves": msgspec.to_builtins(change.moves),
        "converged": sorted(change.converged),
        "stale": sorted(change.stale),
        "changed_at": at,
        "ended_at": at if change.is_finished else None,
    }


async def _write(
    connection: Connection, topic_id: int, before: TopicRows, after: TopicRows, *, at: datetime
) -> None:
    """Write the rows that differ, so that no constraint is broken in between.

    What goes is deleted first, since its place may be given to another row. Counts are the
    exception: a segment needs the row of its broker group.
    """
    for table, key, old, new in (
        (logical_queue_segments, SEGMENT_KEY, before.segments, after.segments),
        (retired_queues, RETIRED_KEY, before.retired, after.retired),
    ):
        await _delete(connection, topic_id, table, key, keyed(old, key).keys() - keyed(new, key))
    counts = _changed(COUNT_KEY, before.counts, after.counts)
    await _upsert(connection, topic_id, static_topic_queue_counts, COUNT_KEY, counts)
    # The former leader ends before its successor begins: one queue has one leader.
    segments = _changed(SEGMENT_KEY, before.segments, after.segments)
    await _upsert(connection, topic_id, logical_queue_segments, SEGMENT_KEY, segments)
    retired = [
        {**one, "retired_at": at} for one in _changed(RETIRED_KEY, before.retired, after.retired)
    ]
    await _upsert(connection, topic_id, retired_queues, RETIRED_KEY, retired)
    gone = keyed(before.counts, COUNT_KEY).keys() - keyed(after.counts, COUNT_KEY)
    await _delete(connection, topic_id, static_topic_queue_counts, COUNT_KEY, gone)


def _changed(key: Sequence[str], before: Sequence[Row], after: Sequence[Row]) -> list[Row]:
    """Return the rows that are new or other ones, in the order of their keys."""
    former = keyed(before, key)
    return [row for of, row in sorted(keyed(after, key).items()) if former.get(of) != row]


async def _delete(
    connection: Connection,
    topic_id: int,
    table: Table,
    key: Sequence[str],
    gone: Iterable[tuple[Any, ...]],
) -> None:
    keys = sorted(gone)
    columns = tuple_(*(table.c[name] for name in key))
    for part in _batched(keys):
        wanted = (table.c.topic_id == topic_id, columns.in_(part))
        await connection.execute(delete(table).where(*wanted))


async def _upsert(
    connection: Connection, topic_id: int, table: Table, key: Sequence[str], rows: Sequence[Row]
) -> None:
    for part in _batched(rows):
        statement = insert(table).values([{"topic_id": topic_id, **row} for row in part])
        changed = {
            name: statement.excluded[name] for name in part[0] if name not in {*key, "topic_id"}
        }
        await connection.execute(
            statement.on_conflict_do_update(index_elements=["topic_id", *key], set_=changed)
        )


def _batched(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Give rows in parts that one statement can carry."""
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        yield rows[start : start + ROWS_PER_STATEMENT]
