"""Count what a consumer group has still to read of a logical queue (logical-queues.md 21.11)."""

from collections.abc import Mapping

from backend.domain.logical_queue.lookup import physical_bound
from backend.domain.logical_queue.mapping import LogicalQueue, Place
from backend.domain.logical_queue.segment import QueueBounds, QueueSegment


def count_unread(
    queue: LogicalQueue, bounds: Mapping[Place, QueueBounds], positions: Mapping[Place, int]
) -> int | None:
    """Return the number of stored messages at and after the position of a group.

    `positions` are physical; the newest segment with one is where the group reads. A group without
    a position has everything to read. None if the bounds of a segment that counts are unknown.
    """
    unread = 0
    for segment in reversed(queue.decided):
        if segment.place not in bounds:
            return None
        found = positions.get(segment.place)
        unread += _count_from(queue, segment, bounds[segment.place], found)
        if found is not None:
            break
    return unread


def _count_from(
    queue: LogicalQueue, segment: QueueSegment, bounds: QueueBounds, position: int | None
) -> int:
    bound = physical_bound(queue, segment)
    end = bounds.max_offset if bound is None else min(bound, bounds.max_offset)
    start = max(segment.physical_start, bounds.min_offset, position or 0)
    return max(0, end - start)
