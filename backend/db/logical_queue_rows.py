"""Write the mapping of a static topic as rows, and read it from them.

The rows of the tables and the JSON of a change have the same form. A segment that a move has
prepared is a row too, so that no other queue can be given its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from backend.domain.logical_queue.change import BEFORE_COMMIT, QueueMove
from backend.domain.logical_queue.mapping import (
    EndedQueue,
    LogicalQueue,
    QueueCounts,
    RetiredQueue,
    TopicMapping,
)
from backend.domain.logical_queue.segment import (
    OPEN,
    UNKNOWN_TIME,
    OffsetMode,
    QueueSegment,
)

Row = dict[str, Any]
PREPARED, NORMAL, READ_ONLY = "prepared", "normal", "read_only"
COUNT_KEY = ("broker_group_name",)
SEGMENT_KEY = ("global_id", "generation")
RETIRED_KEY = ("broker_group_name", "queue_id")


@dataclass(frozen=True, slots=True)
class TopicRows:
    """Hold the rows of a topic: its head, and those of the three tables below it."""

    head: Row
    counts: Sequence[Row]
    segments: Sequence[Row]
    retired: Sequence[Row]


def rows_of(topic: TopicMapping, moves: Sequence[QueueMove] = ()) -> TopicRows:
    """Write a mapping, and what the moves of its unfinished change have prepared."""
    head = {
        "scope": topic.scope,
        "epoch": topic.epoch,
        "offset_mode": topic.offset_mode.value,
        "block_size": topic.block_size,
        "ended_queues": [asdict(one) for one in topic.ended],
    }
    counts = [
        {"broker_group_name": name, **asdict(one)} for name, one in sorted(topic.counts.items())
    ]
    segments = [_segment_row(topic, *place) for place in topic.places()]
    segments += [row for move in moves if (row := _prepared_row(topic, move)) is not None]
    return TopicRows(head, counts, segments, [asdict(one) for one in topic.retired])


def topic_of(topic_name: str, rows: TopicRows) -> TopicMapping:
    """Read a mapping; rows of prepared segments belong to the change."""
    lists: dict[int, list[Row]] = {}
    held = [row for row in rows.segments if row["state"] != PREPARED]
    for row in sorted(held, key=lambda row: (row["global_id"], row["generation"])):
        lists.setdefault(row["global_id"], []).append(row)
    return TopicMapping(
        topic_name=topic_name,
        epoch=rows.head["epoch"],
        queues=tuple(
            LogicalQueue(global_id, tuple(map(_segment_of, part)))
            for global_id, part in lists.items()
        ),
        counts={
            row["broker_group_name"]: QueueCounts(row["read_count"], row["write_count"])
            for row in rows.counts
        },
        scope=rows.head["scope"],
        offset_mode=OffsetMode(rows.head["offset_mode"]),
        block_size=rows.head["block_size"],
        retired=tuple(_retired_of(row) for row in rows.retired),
        reused={
            (row["broker_group_name"], row["queue_id"]): row["physical_start"]
            for row in held
            if row["is_reused"]
        },
        forced=frozenset((row["global_id"], row["generation"]) for row in held if row["is_forced"]),
        ended=tuple(EndedQueue(**row) for row in rows.head["ended_queues"]),
        sealed_ids=frozenset(
            global_id for global_id, part in lists.items() if part[-1]["state"] == READ_ONLY
        ),
    )


def keyed(rows: Sequence[Row], key: Sequence[str]) -> Mapping[tuple[Any, ...], Row]:
    """Return rows by their key."""
    return {tuple(row[name] for name in key): row for row in rows}


def _segment_row(topic: TopicMapping, queue: LogicalQueue, segment: QueueSegment) -> Row:
    is_leader = segment is queue.segments[-1] and queue.global_id not in topic.sealed_ids
    return {
        "global_id": queue.global_id,
        "generation": segment.generation,
        "broker_group_name": segment.broker_group_name,
        "queue_id": segment.queue_id,
        "logical_start": segment.logical_start,
        "physical_start": segment.physical_start,
        "physical_end": segment.physical_end if segment.is_ended else None,
        "first_stored_ms": _known(segment.first_stored_ms),
        "last_stored_ms": _known(segment.last_stored_ms),
        "state": NORMAL if is_leader else READ_ONLY,
        "is_reused": segment.place in topic.reused and segment.physical_start > 0,
        "is_forced": (queue.global_id, segment.generation) in topic.forced,
    }


def _prepared_row(topic: TopicMapping, move: QueueMove) -> Row | None:
    queue = topic.queue(move.global_id)
    if queue is None or move.prepared is None or move.step not in BEFORE_COMMIT:
        return None
    return {
        "global_id": move.global_id,
        "generation": queue.next_generation,
        "broker_group_name": move.relocation.destination,
        "queue_id": move.prepared.queue_id,
        "logical_start": None,
        "physical_start": move.prepared.physical_start,
        "physical_end": None,
        "first_stored_ms": None,
        "last_stored_ms": None,
        "state": PREPARED,
        "is_reused": move.prepared.physical_start > 0,
        "is_forced": False,
    }


def _segment_of(row: Row) -> QueueSegment:
    return QueueSegment(
        generation=row["generation"],
        broker_group_name=row["broker_group_name"],
        queue_id=row["queue_id"],
        logical_start=row["logical_start"],
        physical_start=row["physical_start"],
        physical_end=OPEN if row["physical_end"] is None else row["physical_end"],
        first_stored_ms=_or_unknown(row["first_stored_ms"]),
        last_stored_ms=_or_unknown(row["last_stored_ms"]),
    )


def _retired_of(row: Row) -> RetiredQueue:
    names = RetiredQueue.__dataclass_fields__
    return RetiredQueue(**{name: row[name] for name in names})


def _known(at_ms: int) -> int | None:
    return None if at_ms == UNKNOWN_TIME else at_ms


def _or_unknown(at_ms: int | None) -> int:
    return UNKNOWN_TIME if at_ms is None else at_ms
