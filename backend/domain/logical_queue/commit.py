"""Compute what a committed step changes in the mapping of a topic (logical-queues.md 4.2, 9.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.mapping import LogicalQueue, Place, RetiredQueue, TopicMapping
from backend.domain.logical_queue.segment import (
    INT32_MAX,
    INT64_MAX,
    UNKNOWN_TIME,
    OffsetMode,
    QueueSegment,
    block_round_up,
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Hold the answer of a destination: the physical queue, and the first offset to use in it."""

    queue_id: int
    physical_start: int = 0


@dataclass(frozen=True, slots=True)
class Seal:
    """Hold the answer of a source: the final end, and the times of the first and last message."""

    physical_end: int
    first_stored_ms: int = UNKNOWN_TIME
    last_stored_ms: int = UNKNOWN_TIME


def get_queue(topic: TopicMapping, global_id: int) -> LogicalQueue:
    """Return a logical queue with its segments.

    Raises:
        QueueChangeRefused: there is no such queue.
    """
    queue = topic.queue(global_id)
    if queue is None or not queue.segments:
        raise QueueChangeRefused(topic.topic_name, f"there is no logical queue {global_id}")
    return queue


def with_successor(
    topic: TopicMapping,
    global_id: int,
    destination: str,
    prepared: Prepared,
    *,
    seal: Seal | None = None,
    forced_start: int | None = None,
) -> TopicMapping:
    """Return the topic with the old segment of a queue ended and the new one added.

    Without a seal the old segment stays open, and the new one begins at the forced start.

    Raises:
        QueueChangeRefused: there is no such queue, or no logical offset or generation is left.
    """
    queue = get_queue(topic, global_id)
    *older, source = queue.segments
    forced = topic.forced
    retired = topic.retired
    is_kept = True
    if seal is None:
        forced = forced | {(queue.global_id, source.generation)}
        start = forced_start or 0
    else:
        source = _sealed(source, seal)
        start = _next_start(topic, source)
        is_kept = start > source.logical_start
        if not is_kept:
            retired = (*retired, retired_from(queue.global_id, source))
    generation = queue.next_generation
    if start > INT64_MAX or generation > INT32_MAX:
        raise QueueChangeRefused(topic.topic_name, "no logical offset or generation is left")
    new = QueueSegment(generation, destination, prepared.queue_id, start, prepared.physical_start)
    taken = replace(
        topic,
        forced=forced,
        retired=tuple(one for one in retired if one.place != new.place),
        reused=_reused(topic, new),
    )
    kept = (*older, source) if is_kept else tuple(older)
    counts = topic.counts[destination].covering(new.queue_id)
    return taken.with_queue(queue.with_segments(*kept, new)).with_counts(destination, counts)


def with_end(topic: TopicMapping, global_id: int, seal: Seal) -> TopicMapping:
    """Return the topic with a queue that takes no more messages.

    Raises:
        QueueChangeRefused: there is no such queue.
    """
    queue = get_queue(topic, global_id)
    *older, last = queue.segments
    sealed = topic.with_queue(queue.with_segments(*older, _sealed(last, seal)))
    return replace(sealed, sealed_ids=topic.sealed_ids | {global_id})


def retired_from(
    global_id: int, segment: QueueSegment, *, final_offset: int | None = None
) -> RetiredQueue:
    """Return the physical queue of a segment as a retired one.

    The end of a segment that a forced move left open is unknown: its start is noted.
    """
    end = segment.physical_end if segment.is_ended else segment.physical_start
    return RetiredQueue(
        segment.broker_group_name,
        segment.queue_id,
        global_id,
        segment.generation,
        end if final_offset is None else final_offset,
    )


def _reused(topic: TopicMapping, new: QueueSegment) -> Mapping[Place, int]:
    if new.physical_start == 0:
        return topic.reused
    return {**topic.reused, new.place: new.physical_start}


def _sealed(segment: QueueSegment, seal: Seal) -> QueueSegment:
    return replace(
        segment,
        physical_end=seal.physical_end,
        first_stored_ms=seal.first_stored_ms,
        last_stored_ms=seal.last_stored_ms,
    )


def _next_start(topic: TopicMapping, source: QueueSegment) -> int:
    """Return the first logical offset after a sealed segment, beyond 64 bits if none is left."""
    end = source.logical_start + source.physical_end - source.physical_start
    if topic.offset_mode is OffsetMode.BLOCK:
        return block_round_up(end, topic.block_size)
    return end
