"""Decide what a reader of a logical queue gets next (logical-queues.md 9.6, 13.2, 13.3, 21.11)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.logical_queue.lookup import (
    Located,
    newest_segment,
    next_segment,
    oldest_segment,
    physical_bound,
)
from backend.domain.logical_queue.mapping import LogicalQueue, Place
from backend.domain.logical_queue.segment import QueueBounds, QueueSegment
from backend.domain.queue_reading import Unread


class PullCode(StrEnum):
    """Name the answer to a pull; `wait` parks the pull at the leader."""

    FOUND = "found"
    WAIT = "wait"
    RETRY_IMMEDIATELY = "retry_immediately"
    OFFSET_MOVED = "offset_moved"


@dataclass(frozen=True, slots=True)
class PullDecision:
    """Hold the answer to a pull, and the logical offset where the reader continues."""

    code: PullCode
    next_offset: int
    count_max: int = 0
    """How many messages of the segment may be read from there on."""


def may_leave(
    queue: LogicalQueue,
    segment: QueueSegment,
    physical_offset: int,
    *,
    bounds: QueueBounds,
    earlier: QueueBounds | None = None,
    is_expired: bool = False,
) -> bool:
    """Return whether a reader may go on to the next segment without losing a message (H-6).

    A sealed segment has to be read to its end. An open one has to be read to the greatest offset
    that its owner reported twice: `earlier` is the report one idle period of the dispatcher before.
    """
    bound = physical_bound(queue, segment)
    if is_expired or (bound is not None and physical_offset >= bound):
        return next_segment(queue, segment) is not None
    if segment.is_ended or next_segment(queue, segment) is None:
        return False
    reports = [one.max_offset for one in (bounds, earlier) if one is not None]
    return earlier is not None and all(one <= physical_offset for one in reports)


def decide_pull(
    queue: LogicalQueue,
    located: Located,
    bounds: QueueBounds,
    *,
    earlier: QueueBounds | None = None,
    expired: Collection[int] = (),
) -> PullDecision:
    """Decide a pull at a place, by the present bounds of its physical queue.

    `expired` are the generations of segments without data.
    """
    segment, offset = located.segment, located.physical_offset
    bound = physical_bound(queue, segment)
    end = bounds.max_offset if bound is None else min(bounds.max_offset, bound)
    first = max(segment.physical_start, bounds.min_offset)
    if first <= offset < end:
        # The rest of the segment limits a pull, not its length (H-18).
        return PullDecision(PullCode.FOUND, segment.to_logical_strict(offset), end - offset)
    if offset < first:
        start = first if bound is None else min(first, bound)
        is_oldest = segment == oldest_segment(queue, expired=expired)
        code = PullCode.OFFSET_MOVED if is_oldest else PullCode.RETRY_IMMEDIATELY
        return PullDecision(code, segment.to_logical_strict(start))
    following = next_segment(queue, segment)
    is_gone = segment.generation in expired
    if following is not None and may_leave(
        queue, segment, offset, bounds=bounds, earlier=earlier, is_expired=is_gone
    ):
        return PullDecision(PullCode.RETRY_IMMEDIATELY, following.logical_start)
    if following is None and offset > end:
        is_only = segment == oldest_segment(queue, expired=expired)
        code = PullCode.WAIT if is_only else PullCode.OFFSET_MOVED
        return PullDecision(code, segment.to_logical_strict(max(segment.physical_start, end)))
    return PullDecision(PullCode.WAIT, segment.to_logical_strict(offset))


def find_position(queue: LogicalQueue, positions: Mapping[Place, int]) -> int | None:
    """Return the committed logical offset of a group, from its newest segment with a position.

    `positions` are physical offsets by physical queue. None if the group has none (code 22).
    """
    for segment in reversed(queue.decided):
        if (offset := positions.get(segment.place)) is not None:
            bound = physical_bound(queue, segment)
            return segment.to_logical_strict(offset if bound is None else min(offset, bound))
    return None


def count_unread(
    queue: LogicalQueue, logical_offset: int, bounds: Mapping[Place, QueueBounds]
) -> Unread | None:
    """Count the stored messages from an offset on, without the gaps between segments (L41).

    Messages that were deleted unread are counted beside them. None if the bounds of a segment from
    that offset on are unknown (D21).
    """
    oldest, newest = oldest_segment(queue), newest_segment(queue)
    parts = [unread_in(queue, one, logical_offset, bounds) for one in queue.decided]
    known = [one for one in parts if one is not None]
    if oldest is None or newest is None or len(known) < len(parts):
        return None
    return Unread(
        sum(one.lag for one in known),
        # Segments that were dropped had no message any more.
        sum(one.expired for one in known) + max(0, oldest.logical_start - logical_offset),
        known[-1].ahead,
    )


def unread_in(
    queue: LogicalQueue,
    segment: QueueSegment,
    logical_offset: int,
    bounds: Mapping[Place, QueueBounds],
) -> Unread | None:
    """Count the messages of one segment from an offset on; None if its bounds are unknown."""
    bound, known = physical_bound(queue, segment), bounds.get(segment.place)
    wanted = max(segment.physical_start, segment.to_physical(logical_offset))
    if bound is not None and wanted >= bound:
        return Unread(0)
    if known is None:
        return None
    end = known.max_offset if bound is None else min(known.max_offset, bound)
    if wanted >= end:
        return Unread(0, ahead=wanted - end)
    first = min(max(wanted, known.min_offset), end)
    return Unread(end - first, expired=first - wanted)
