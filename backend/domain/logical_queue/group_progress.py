"""Show the progress of a consumer group in logical queues, from that in physical ones (L41).

Brokers report physical queues. Their positions and ends say nothing alone: a group that has read a
segment to its end goes on in the next one, on another broker.
"""

from collections.abc import Mapping, Sequence

from backend.domain.consumer_group_lag import QueueKind, QueueLag
from backend.domain.logical_queue.lookup import ends_of, find_segment, newest_segment
from backend.domain.logical_queue.mapping import LogicalQueue, Place, TopicMapping
from backend.domain.logical_queue.reading import count_unread, find_position, unread_in
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.recorded_lag import ReportedGroupLag


def in_logical_terms(
    mapping: TopicMapping, lags: Sequence[QueueLag], bounds: Mapping[Place, QueueBounds]
) -> list[QueueLag]:
    """Return the progress of a group by logical queue, each named by its leader and its global id.

    `lags` are of physical queues, where `committed` is None without a position. `bounds` are of
    those where the group has none. A queue whose leader did not answer is left out.
    """
    by_place = {(one.broker_group_name, one.queue_id): one for one in lags}
    known = dict(bounds)
    for place, one in by_place.items():
        if one.begin is not None:
            known[place] = QueueBounds(one.begin, one.end)
    found = (_of_queue(mapping.topic_name, one, by_place, known) for one in mapping.queues)
    return [one for one in found if one is not None]


def add_up_logical(
    topic_name: str,
    queues: Sequence[LogicalQueue],
    positions: Mapping[str, Mapping[Place, int]],
    bounds: Mapping[Place, QueueBounds],
) -> list[ReportedGroupLag]:
    """Add up the lag of each consumer group in some logical queues of a topic.

    `positions` are physical, by consumer group. Queues without a position, or without a known lag,
    are left out (D21).
    """
    found = []
    for group, places in sorted(positions.items()):
        at = [(queue, find_position(queue, places)) for queue in queues]
        counted = [
            unread
            for queue, position in at
            if position is not None
            and (unread := count_unread(queue, position, bounds)) is not None
        ]
        if counted:
            lag, expired = sum(one.lag for one in counted), sum(one.expired for one in counted)
            found.append(ReportedGroupLag(group, topic_name, len(counted), lag, expired))
    return found


def _of_queue(
    topic_name: str,
    queue: LogicalQueue,
    by_place: Mapping[Place, QueueLag],
    bounds: Mapping[Place, QueueBounds],
) -> QueueLag | None:
    newest, ends = newest_segment(queue), ends_of(queue, bounds)
    if newest is None or ends.max_offset is None:
        return None
    positions = {
        place: one.committed for place, one in by_place.items() if one.committed is not None
    }
    position = find_position(queue, positions)
    reached = None if position is None else find_segment(queue, position)
    if reached is not None and any(
        one.generation > reached.generation and one.place not in bounds for one in queue.decided
    ):
        # The group may have a newer position at a broker that did not answer.
        position = reached = None
    at = None if reached is None else by_place.get(reached.place)
    unread = None if position is None else count_unread(queue, position, bounds)
    # Without bounds, offsets alone would count gaps, and messages that are deleted.
    is_known = position is None or unread is not None
    return QueueLag(
        broker_group_name=newest.broker_group_name,
        topic=topic_name,
        queue_id=queue.global_id,
        kind=QueueKind.NORMAL,
        committed=position,
        end=ends.max_offset,
        waiting_ms=None if position is None else _waiting_ms(queue, position, by_place, bounds),
        consumed_at_ms=None if at is None else at.consumed_at_ms,
        begin=ends.min_offset if is_known else None,
        counted=unread,
    )


def _waiting_ms(
    queue: LogicalQueue,
    position: int,
    by_place: Mapping[Place, QueueLag],
    bounds: Mapping[Place, QueueBounds],
) -> int | None:
    """Return the age of the first unread message, which its physical queue reports."""
    for segment in queue.decided:
        unread = unread_in(queue, segment, position, bounds)
        if unread is None:
            return None
        if unread.lag:
            at = by_place.get(segment.place)
            return None if at is None else at.waiting_ms
    return 0
