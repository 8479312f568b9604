"""Drop segments without data, and carry positions of consumer groups forward.

The rules are those of logical-queues.md 11.3 and 12: without the carried positions a group that
had read a segment to its end would skip unread messages (H-15, H-16).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from backend.domain.logical_queue.commit import retired_from
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.lookup import next_segment
from backend.domain.logical_queue.mapping import LogicalQueue, Place, TopicMapping
from backend.domain.logical_queue.segment import OPEN, QueueBounds, QueueSegment

EXPIRY_INTERVAL_MS = 60_000
"""The least time between the two observations that prove that a segment has no data."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Hold the bounds of the physical queue of a segment at one moment."""

    at_ms: int
    bounds: QueueBounds


@dataclass(frozen=True, slots=True)
class CarriedPosition:
    """Hold a position to commit for a consumer group before a segment is dropped."""

    consumer_group_name: str
    place: Place
    physical_offset: int


@dataclass(frozen=True, slots=True)
class Expiry:
    """Hold what follows when a segment is dropped: first commit, then clear, then store."""

    topic: TopicMapping
    carried: tuple[CarriedPosition, ...]
    cleared: Place


@dataclass(frozen=True, slots=True)
class Overlap:
    """Hold messages of a returned source at logical offsets that its successor uses too.

    Reads of the old segment end at `cut_end`. Its messages from there to `physical_end` are copied
    by an operator, or reported as lost (logical-queues.md 9.4).
    """

    global_id: int
    generation: int
    cut_end: int
    physical_end: int

    @property
    def message_count(self) -> int:
        """Return the number of messages that can't be read by their logical offsets."""
        return self.physical_end - self.cut_end

    def __str__(self) -> str:
        where = f"logical queue {self.global_id}, generation {self.generation}"
        return f"{where}: {self.message_count} messages lie beyond the jump of a forced move"


def has_no_data(segment: QueueSegment, bounds: QueueBounds) -> bool:
    """Return whether the physical queue of an ended segment holds no message."""
    is_empty = bounds.min_offset == bounds.max_offset
    return segment.is_ended and is_empty and bounds.max_offset >= segment.physical_end


def is_expired(
    queue: LogicalQueue, segment: QueueSegment, first: Sighting, second: Sighting
) -> bool:
    """Return whether a segment may be dropped: sealed, not the last, and empty twice."""
    is_last = not queue.segments or queue.segments[-1].generation == segment.generation
    apart_ms = second.at_ms - first.at_ms
    return (
        not is_last
        and next_segment(queue, segment) is not None
        and apart_ms >= EXPIRY_INTERVAL_MS
        and all(has_no_data(segment, one.bounds) for one in (first, second))
    )


def drop_oldest(
    topic: TopicMapping,
    global_id: int,
    sightings: tuple[Sighting, Sighting],
    positions: Mapping[str, Mapping[Place, int]],
) -> Expiry:
    """Drop the oldest segment of a logical queue, in the same epoch.

    `positions` are the committed physical offsets of each consumer group, by physical queue. A
    group with a position on the dropped segment and none later continues at the next one.

    Raises:
        QueueChangeRefused: the segment has or may have data.
    """
    queue = topic.queue(global_id)
    if queue is None or len(queue.segments) <= 1:
        raise QueueChangeRefused(topic.topic_name, f"logical queue {global_id} has one segment")
    oldest, following, *_ = queue.segments
    if not is_expired(queue, oldest, *sightings):
        raise QueueChangeRefused(topic.topic_name, f"{oldest} may still hold messages")
    final = sightings[1].bounds.max_offset
    retired = (*topic.retired, retired_from(global_id, oldest, final_offset=final))
    dropped = replace(
        topic.with_queue(queue.with_segments(*queue.segments[1:])),
        retired=retired,
        reused={place: one for place, one in topic.reused.items() if place != oldest.place},
    )
    return Expiry(dropped, carry_forward(queue, oldest, following, positions), oldest.place)


def carry_forward(
    queue: LogicalQueue,
    dropped: QueueSegment,
    following: QueueSegment,
    positions: Mapping[str, Mapping[Place, int]],
) -> tuple[CarriedPosition, ...]:
    """Return the positions to commit before a segment is dropped, ordered by group."""
    later = {one.place for one in queue.segments if one.generation > dropped.generation}
    return tuple(
        CarriedPosition(name, following.place, following.physical_start)
        for name, places in sorted(positions.items())
        if dropped.place in places and not later & places.keys()
    )


def carry_to_leader(
    before: TopicMapping,
    after: TopicMapping,
    global_id: int,
    positions: Mapping[str, Mapping[Place, int]],
) -> tuple[CarriedPosition, ...]:
    """Return the positions to commit when a queue has a new leader, ordered by group.

    A move drops an empty segment, and a queue that a shrink removed comes back on another physical
    queue. A group with a position there has read all before the new segment, and continues at its
    start. Without that it would have no position, and would start at the last message.

    The positions are carried before the new leader becomes active. Groups commit at the source
    until it stored the new list, so they are carried once more after that, and deleted there.
    """
    queue = after.queue(global_id)
    if queue is None or queue.leader is None:
        return ()
    leader = queue.leader
    dropped = dropped_places(before, after, global_id)
    return tuple(
        CarriedPosition(name, leader.place, leader.physical_start)
        for name, held in sorted(positions.items())
        if dropped & held.keys() and held.get(leader.place, -1) < leader.physical_start
    )


def dropped_places(before: TopicMapping, after: TopicMapping, global_id: int) -> frozenset[Place]:
    """Return the physical queues that a logical queue had, and that its segments do not name now.

    The leader is left out: it may be a physical queue that is used again.
    """
    queue, former = after.queue(global_id), before.queue(global_id)
    kept = {one.place for one in queue.segments[:-1]} if queue is not None else set()
    places = {one.place for one in former.segments} if former is not None else set()
    places |= {one.place for one in before.retired if one.global_id == global_id}
    return frozenset(places - kept)


def close_forced(
    topic: TopicMapping, global_id: int, generation: int, physical_end: int
) -> tuple[TopicMapping, Overlap | None]:
    """Record the real end of a segment whose source has returned after a forced move.

    Raises:
        QueueChangeRefused: the segment does not wait for its end.
    """
    queue = topic.queue(global_id)
    segments = () if queue is None else queue.segments
    segment = next((one for one in segments if one.generation == generation), None)
    following = None if queue is None or segment is None else next_segment(queue, segment)
    if queue is None or segment is None or following is None or segment.physical_end != OPEN:
        reason = f"generation {generation} of logical queue {global_id} does not wait for its end"
        raise QueueChangeRefused(topic.topic_name, reason)
    room = segment.to_physical(following.logical_start)
    end = max(segment.physical_start, min(physical_end, room))
    closed = replace(segment, physical_end=end)
    kept = tuple(closed if one is segment else one for one in segments)
    changed = replace(
        topic.with_queue(queue.with_segments(*kept)),
        forced=topic.forced - {(global_id, generation)},
    )
    if physical_end <= end:
        return changed, None
    return changed, Overlap(global_id, generation, end, physical_end)


def removable_groups(topic: TopicMapping) -> frozenset[str]:
    """Return the broker groups that no segment names, so that they may be removed (L14)."""
    used = {segment.broker_group_name for _, segment in topic.places()}
    return frozenset(topic.counts) - used


def holding_queues(topic: TopicMapping, broker_group_name: str) -> tuple[int, ...]:
    """Return the logical queues that keep a broker group from being removed."""
    return tuple(
        sorted(
            {
                queue.global_id
                for queue, segment in topic.places()
                if segment.broker_group_name == broker_group_name
            }
        )
    )


def last_known_end(
    segment: QueueSegment, physical_ends: Iterable[int], consumed: Iterable[int]
) -> int:
    """Return the greatest logical end that anyone reported of a segment.

    `physical_ends` are those of registrations and replicas. `consumed` are logical offsets of
    consumer groups: a consumer may have read what no report contains.
    """
    ends = [segment.to_logical_strict(one) for one in physical_ends]
    return max([segment.logical_start, *ends, *consumed])
