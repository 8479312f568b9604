"""Serve positions and ends of logical queues at their leader (logical-queues.md 13.2, 13.4)."""

from typing import TYPE_CHECKING

from backend.domain.logical_queue.lookup import (
    locate_position,
    max_offset,
    min_offset,
    oldest_segment,
    physical_bound,
    search_result,
    segments_to_search,
)
from backend.domain.logical_queue.reading import find_position
from backend.domain.logical_queue.segment import QueueSegment
from workers.broker.logical.led_queue import LedQueue
from workers.broker.logical.segments import (
    bounds_here,
    bounds_of,
    commit_to,
    earliest_time,
    found_by_time,
    position_of,
)

if TYPE_CHECKING:
    from workers.broker.broker import Broker


async def committed_position(broker: "Broker", led: LedQueue, group: str) -> int | None:
    """Return the committed logical offset of a group, from its newest segment with a position.

    Raises:
        Refusal: the broker group of a segment does not answer.
    """
    for segment in reversed(led.queue.decided):
        offset = await position_of(broker, group, led.topic_name, segment)
        if offset is not None:
            return find_position(led.queue, {segment.place: offset})
    return None


async def commit(
    broker: "Broker", led: LedQueue, group: str, logical_offset: int, *, address: str
) -> int | None:
    """Record a committed logical offset at its segment, and return the stored one.

    A negative offset changes nothing and returns None (L36, L37).

    Raises:
        Refusal: the broker group of the segment does not answer.
    """
    located = locate_position(led.queue, logical_offset)
    if located is None or logical_offset < 0:
        return None
    segment = located.segment
    stored = await commit_to(
        broker, group, led.topic_name, segment, offset=located.physical_offset, address=address
    )
    return None if stored is None else segment.to_logical_strict(stored)


def end_of(broker: "Broker", led: LedQueue) -> int:
    """Return the logical offset of the next message (H-21)."""
    bounds = bounds_here(broker, led.topic_name, led.leader)
    end = max_offset(led.queue, bounds.max_offset)
    return led.leader.logical_end if end is None else end


async def begin_of(broker: "Broker", led: LedQueue) -> int:
    """Return the logical offset of the oldest message.

    Raises:
        Refusal: the broker group of a segment does not answer.
    """
    segment, expired = await _oldest(broker, led)
    bounds = await bounds_of(broker, led.topic_name, segment)
    begin = min_offset(led.queue, bounds.min_offset, expired=expired)
    return segment.logical_start if begin is None else begin


async def earliest_store_time(broker: "Broker", led: LedQueue) -> int:
    """Return when the oldest message was stored; -1 without a message (H-22).

    Raises:
        Refusal: the broker group of a segment does not answer.
    """
    segment, _ = await _oldest(broker, led)
    return await earliest_time(broker, led.topic_name, segment)


async def offset_by_time(broker: "Broker", led: LedQueue, timestamp_ms: int, boundary: str) -> int:
    """Return the logical offset of a store time, the end if all messages are older (H-20, L38).

    Raises:
        Refusal: the broker group of a segment does not answer.
    """
    _, expired = await _oldest(broker, led)
    for segment in segments_to_search(led.queue, timestamp_ms, expired=expired):
        found = await found_by_time(broker, led.topic_name, segment, timestamp_ms, boundary)
        bound = physical_bound(led.queue, segment)
        if found is not None and (bound is None or found < bound):
            return search_result([(segment, found)], end=0)
    return end_of(broker, led)


async def _oldest(broker: "Broker", led: LedQueue) -> tuple[QueueSegment, frozenset[int]]:
    """Return the oldest segment with data, else the last, and the generations of expired ones."""
    expired: set[int] = set()
    for segment in led.queue.decided:
        is_last = segment == led.leader
        if is_last or not (await bounds_of(broker, led.topic_name, segment)).is_empty:
            break
        expired.add(segment.generation)
    return oldest_segment(led.queue, expired=expired) or led.leader, frozenset(expired)
