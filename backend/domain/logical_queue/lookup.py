"""Find segments by logical and physical offsets, in both directions (logical-queues.md 4).

Every function accepts any 64-bit offset and any list of segments, and raises no error. An answer
that the mapping does not give is None.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.logical_queue.mapping import LogicalQueue, Place
from backend.domain.logical_queue.segment import QueueBounds, QueueSegment, SegmentStatus


@dataclass(frozen=True, slots=True)
class Located:
    """Hold a segment and a physical offset in it."""

    segment: QueueSegment
    physical_offset: int


@dataclass(frozen=True, slots=True)
class LogicalEnds:
    """Hold the first and the next logical offset of a queue; None where they are unknown."""

    min_offset: int | None
    max_offset: int | None


def find_segment(queue: LogicalQueue, logical_offset: int) -> QueueSegment | None:
    """Return the newest segment that starts at or before an offset, else the oldest one.

    An offset in a gap belongs to the segment before the gap. None if no segment is decided.
    """
    decided = queue.decided
    at = bisect_right(decided, logical_offset, key=lambda one: one.logical_start)
    return decided[max(0, at - 1)] if decided else None


def next_segment(queue: LogicalQueue, segment: QueueSegment) -> QueueSegment | None:
    """Return the decided segment after one with this generation."""
    later = (one for one in queue.decided if one.generation > segment.generation)
    return next(later, None)


def upper_bound(queue: LogicalQueue, segment: QueueSegment) -> int | None:
    """Return the logical offset where a segment ends; None for an open last segment.

    No read of a segment goes past this offset, so two segments never give the same offset.
    """
    following = next_segment(queue, segment)
    bounds = [] if following is None else [following.logical_start]
    if segment.is_ended:
        bounds.append(segment.logical_end)
    return min(bounds, default=None)


def physical_bound(queue: LogicalQueue, segment: QueueSegment) -> int | None:
    """Return the physical offset where a segment ends; None for an open last segment."""
    bound = upper_bound(queue, segment)
    return None if bound is None else max(segment.physical_start, segment.to_physical(bound))


def locate(queue: LogicalQueue, logical_offset: int) -> Located | None:
    """Return where a reader of a logical offset continues, also outside of all segments."""
    segment = find_segment(queue, logical_offset)
    return None if segment is None else Located(segment, segment.to_physical(logical_offset))


def locate_strict(queue: LogicalQueue, logical_offset: int) -> Located | None:
    """Return the place of a message; None for an offset before, between or after the segments."""
    located = locate(queue, logical_offset)
    if located is None or logical_offset < located.segment.logical_start:
        return None
    bound = upper_bound(queue, located.segment)
    return located if bound is None or logical_offset < bound else None


def locate_position(queue: LogicalQueue, logical_offset: int) -> Located | None:
    """Return where the committed offset of a group is stored (logical-queues.md 13.2, H-23).

    An offset in a gap is stored as the end of the segment before the gap. An offset before all
    segments is stored as the start of the oldest one.
    """
    located = locate(queue, logical_offset)
    if located is None:
        return None
    segment = located.segment
    bound = physical_bound(queue, segment)
    offset = max(segment.physical_start, located.physical_offset)
    return Located(segment, offset if bound is None else min(offset, bound))


def find_physical(
    queue: LogicalQueue, broker_group_name: str, queue_id: int, physical_offset: int
) -> QueueSegment | None:
    """Return the newest decided segment of a physical queue that starts at or before an offset.

    If the offset is before all of them, the oldest one is returned.
    """
    place = (broker_group_name, queue_id)
    own = [one for one in queue.decided if one.place == place]
    started = [one for one in own if one.physical_start <= physical_offset]
    return started[-1] if started else next(iter(own), None)


def to_logical(
    queue: LogicalQueue, broker_group_name: str, queue_id: int, physical_offset: int
) -> int | None:
    """Return the logical offset of a physical one, past the end too (the strict form)."""
    segment = find_physical(queue, broker_group_name, queue_id, physical_offset)
    return None if segment is None else segment.to_logical_strict(physical_offset)


def to_logical_loose(
    queue: LogicalQueue, broker_group_name: str, queue_id: int, physical_offset: int
) -> int | None:
    """Return the logical offset within the recorded end (the loose form)."""
    segment = find_physical(queue, broker_group_name, queue_id, physical_offset)
    return None if segment is None else segment.to_logical_loose(physical_offset)


def message_offset(
    queue: LogicalQueue, broker_group_name: str, queue_id: int, physical_offset: int
) -> int | None:
    """Return the logical offset of a message; None if its segment does not own that slot."""
    segment = find_physical(queue, broker_group_name, queue_id, physical_offset)
    if segment is None or physical_offset < segment.physical_start:
        return None
    bound = physical_bound(queue, segment)
    if bound is not None and physical_offset >= bound:
        return None
    return segment.to_logical_strict(physical_offset)


def find_message(
    queues: Iterable[LogicalQueue], place: Place, physical_offset: int
) -> tuple[int, int] | None:
    """Return the global id and the logical offset of a message; None without a segment of it."""
    for queue in queues:
        offset = message_offset(queue, *place, physical_offset)
        if offset is not None:
            return queue.global_id, offset
    return None


def min_offset(
    queue: LogicalQueue, physical_min: int, *, expired: Collection[int] = ()
) -> int | None:
    """Return the least logical offset; `physical_min` is of the oldest segment with data.

    `expired` are the generations of segments without data, which are skipped.
    """
    oldest = oldest_segment(queue, expired=expired)
    return None if oldest is None else oldest.to_logical_loose(physical_min)


def oldest_segment(queue: LogicalQueue, *, expired: Collection[int] = ()) -> QueueSegment | None:
    """Return the oldest decided segment with data, else the last decided one."""
    decided = queue.decided
    kept = (one for one in decided if one.generation not in expired)
    return next(kept, decided[-1] if decided else None)


def newest_segment(queue: LogicalQueue) -> QueueSegment | None:
    """Return the newest decided segment, whose queue has the greatest offset (H-21)."""
    return queue.decided[-1] if queue.decided else None


def max_offset(queue: LogicalQueue, physical_max: int | None = None) -> int | None:
    """Return the offset after the last message; `physical_max` is of the newest segment.

    Without it the result is what the mapping alone proves.
    """
    newest = newest_segment(queue)
    if newest is None:
        return None
    if physical_max is None:
        return newest.logical_end
    return max(newest.logical_end, newest.to_logical_strict(physical_max))


def statuses_of(
    queue: LogicalQueue, bounds: Mapping[Place, QueueBounds]
) -> dict[int, SegmentStatus]:
    """Return the status of each segment by its generation (logical-queues.md 3)."""
    return {
        one.generation: one.status(is_last=one is queue.leader, bounds=bounds.get(one.place))
        for one in queue.segments
    }


def ends_of(queue: LogicalQueue, bounds: Mapping[Place, QueueBounds]) -> LogicalEnds:
    """Return the logical offsets between which messages of a queue are stored."""
    statuses = statuses_of(queue, bounds)
    expired = [one for one, status in statuses.items() if status is SegmentStatus.EXPIRED]
    oldest, newest = oldest_segment(queue, expired=expired), newest_segment(queue)
    low = None if oldest is None else bounds.get(oldest.place)
    high = None if newest is None else bounds.get(newest.place)
    return LogicalEnds(
        None if low is None else min_offset(queue, low.min_offset, expired=expired),
        None if high is None else max_offset(queue, high.max_offset),
    )


def segments_to_search(
    queue: LogicalQueue, timestamp_ms: int, *, expired: Collection[int] = ()
) -> tuple[QueueSegment, ...]:
    """Return the segments to search for a store time, in order (logical-queues.md 13.4).

    A segment whose last message is older is skipped.
    """
    return tuple(
        one
        for one in queue.decided
        if one.generation not in expired
        and not (one.last_stored_ms >= 0 and one.last_stored_ms < timestamp_ms)
    )


def search_result(answers: Sequence[tuple[QueueSegment, int | None]], *, end: int) -> int:
    """Return the logical offset of the first segment with a hit, else the end of the queue (H-20).

    An answer is the physical offset that a broker found, or None.
    """
    hits = (segment.to_logical_strict(offset) for segment, offset in answers if offset is not None)
    return next(hits, end)
