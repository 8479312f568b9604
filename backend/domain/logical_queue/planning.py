"""Plan static topics and the number of their queues; each plan is a change that has not begun.

A plan is made on a mapping without findings only, depends on its input alone, and is checked
itself (logical-queues.md 6, 7, 19). Nothing here asks a broker.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from backend.domain.logical_queue.change import (
    ChangeKind,
    ChangeState,
    MoveStep,
    QueueChange,
    QueueMove,
    next_epoch,
)
from backend.domain.logical_queue.commit import retired_from
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.mapping import (
    GLOBAL_SCOPE,
    EndedQueue,
    LogicalQueue,
    Place,
    QueueCounts,
    TopicMapping,
)
from backend.domain.logical_queue.placement import (
    Relocation,
    allocate,
    choose_retired,
)
from backend.domain.logical_queue.plan_checks import (
    ClusterGroups,
    begin,
    check_count,
    check_sound,
    check_targets_answer,
    refuse,
)
from backend.domain.logical_queue.segment import (
    BLOCK_SIZE,
    INT32_MAX,
    OffsetMode,
    QueueBounds,
    QueueSegment,
)
from backend.domain.logical_queue.topic_checks import (
    check_growth,
    check_hosts,
)

Bounds = Mapping[Place, QueueBounds]


def plan_creation(
    topic_name: str,
    queue_count: int,
    *,
    targets: Collection[str],
    groups: ClusterGroups,
    now_ms: int,
    known_at: Collection[str] = (),
    scope: str = GLOBAL_SCOPE,
    offset_mode: OffsetMode = OffsetMode.CONTIGUOUS,
    block_size: int = BLOCK_SIZE,
) -> QueueChange:
    """Plan a new static topic; counts of its queues on the targets differ by 1 at most (L1).

    `known_at` are the broker groups, of any cluster, that know a topic of this name. The other
    broker groups of the cluster get an empty mapping.

    Raises:
        QueueChangeRefused: the name is in use, a master does not answer, or a number is out of
        range.
    """
    if known_at:
        reason = f"{', '.join(sorted(known_at))} already have a topic of this name (INV-1)"
        raise QueueChangeRefused(topic_name, reason)
    check_count(topic_name, queue_count)
    check_targets_answer(topic_name, targets, groups)
    if not 0 < block_size <= INT32_MAX:
        raise QueueChangeRefused(topic_name, f"the block size is 1 to {INT32_MAX}")
    epoch = next_epoch(None, now_ms=now_ms, topic_name=topic_name)
    empty = TopicMapping(
        topic_name,
        0,
        (),
        dict.fromkeys(sorted(groups.names), QueueCounts()),
        scope,
        offset_mode,
        block_size,
    )
    after = replace(empty, epoch=epoch)
    chosen = allocate(range(queue_count), dict.fromkeys(sorted(targets), 0))
    for global_id, name in chosen.items():
        after = _with_new_queue(after, EndedQueue(global_id, -1, 0), name)
    return _settled(ChangeKind.CREATE, empty, after)


def plan_expansion(
    topic: TopicMapping,
    queue_count: int,
    *,
    targets: Collection[str],
    groups: ClusterGroups,
    now_ms: int,
    bounds: Bounds | None = None,
) -> QueueChange:
    """Plan more logical queues; the existing ones keep their segments (L6, L7, L8).

    The targets are those that the caller names and the broker groups that lead a queue (H-13),
    except cordoned ones. Queues that a shrink sealed or removed come back first, at increasing
    offsets. `bounds` are those of retired physical queues: an empty one is used again.

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: the count does
        not grow, no broker group may take a queue, or a master does not answer.
    """
    check_sound(topic)
    check_count(topic.topic_name, queue_count)
    leading = {name for name in topic.counts if topic.led_by(name)}
    hosts = {*targets, *leading}
    refuse(topic, [*check_hosts(topic, hosts), *check_growth(topic, queue_count)])
    check_targets_answer(topic.topic_name, hosts, groups)
    targets = {*targets, *(leading - groups.cordoned)}
    if not targets:
        reason = f"{', '.join(sorted(leading))} is cordoned: name a broker group for the new queues"
        raise QueueChangeRefused(topic.topic_name, reason)
    after = begin(topic, now_ms, names=groups.names)
    revived = sorted(topic.sealed_ids)[: queue_count - topic.writable_count]
    for global_id in revived:
        after = _revived(after, global_id, bounds or {})
    new_ids = range(topic.queue_count, queue_count)
    ended = {one.global_id: one for one in topic.ended}
    homes = _homes_of(topic, ended.keys() & set(new_ids), targets)
    led = {name: len(after.led_by(name)) for name in targets}
    led = {name: count + list(homes.values()).count(name) for name, count in led.items()}
    chosen = allocate([one for one in new_ids if one not in homes], led)
    for global_id in new_ids:
        start = ended.get(global_id, EndedQueue(global_id, -1, 0))
        name = homes.get(global_id) or chosen[global_id]
        after = _with_new_queue(after, start, name, bounds or {})
    kept = tuple(one for one in topic.ended if one.global_id not in new_ids)
    return _settled(ChangeKind.EXPAND, topic, replace(after, ended=kept))


def plan_shrink(
    topic: TopicMapping, queue_count: int, *, groups: ClusterGroups, now_ms: int
) -> QueueChange:
    """Plan the first stage of a smaller count: the last logical queues take no messages (L8).

    Their leaders seal them. All ids stay readable until `plan_removal`.

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: the count is not
        smaller, or a leader does not answer.
    """
    check_sound(topic)
    if not 0 < queue_count < topic.writable_count:
        reason = f"the smaller count is 1 to {topic.writable_count - 1}, not {queue_count}"
        raise QueueChangeRefused(topic.topic_name, reason)
    ended = [one for one in topic.queues[queue_count:] if one.global_id not in topic.sealed_ids]
    leaders = {one.global_id: one.leader_name or "" for one in ended}
    if silent := sorted(set(leaders.values()) - groups.answering):
        raise QueueChangeRefused(topic.topic_name, f"the master of {silent[0]} does not answer")
    moves = tuple(
        QueueMove(Relocation(one, name, name), step=MoveStep.PREPARED)
        for one, name in leaders.items()
    )
    return QueueChange(ChangeKind.SHRINK, topic, begin(topic, now_ms), moves)


def plan_removal(topic: TopicMapping, finished_ids: Collection[int], *, now_ms: int) -> QueueChange:
    """Plan the second stage of a smaller count: the sealed queues go away (L8).

    `finished_ids` are queues that every consumer group has read to the end, or that have no data.

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: a sealed queue is
        not finished, or none is sealed.
    """
    check_sound(topic)
    unread = sorted(topic.sealed_ids - set(finished_ids))
    if unread or not topic.sealed_ids:
        what = f"queues {unread} have unread messages" if unread else "no queue is sealed"
        raise QueueChangeRefused(topic.topic_name, what)
    removed = [one for one in topic.queues if one.global_id in topic.sealed_ids]
    ended = [EndedQueue(one.global_id, one.next_generation - 1, _end_of(one)) for one in removed]
    retired = [
        retired_from(queue.global_id, segment) for queue in removed for segment in queue.segments
    ]
    after = replace(
        begin(topic, now_ms),
        queues=tuple(one for one in topic.queues if one not in removed),
        sealed_ids=frozenset(),
        retired=(*topic.retired, *retired),
        ended=(*topic.ended, *ended),
    )
    return _settled(ChangeKind.SHRINK, topic, after)


def plan_conversion(
    topic_name: str,
    counts: Mapping[str, QueueCounts],
    *,
    groups: ClusterGroups,
    now_ms: int,
    offset_mode: OffsetMode = OffsetMode.CONTIGUOUS,
) -> QueueChange:
    """Plan to make an ordinary topic static in place: logical offsets equal physical ones.

    Each write queue becomes a logical queue, in the order of broker groups and queue ids. Stored
    positions of consumer groups stay valid (logical-queues.md 19.1).

    Raises:
        QueueChangeRefused: a broker group has more read queues than write queues, so that messages
        would be hidden, or a master does not answer.
    """
    uneven = [name for name, one in counts.items() if one.read_count != one.write_count]
    if uneven:
        reason = f"the numbers of read and write queues differ on {', '.join(sorted(uneven))}"
        raise QueueChangeRefused(topic_name, reason)
    places = [(name, at) for name in sorted(counts) for at in range(counts[name].write_count)]
    check_count(topic_name, len(places))
    check_targets_answer(
        topic_name, [name for name, one in counts.items() if one.write_count], groups
    )
    epoch = next_epoch(None, now_ms=now_ms, topic_name=topic_name)
    all_counts = {name: QueueCounts() for name in sorted(groups.names)} | dict(counts)
    before = TopicMapping(topic_name, 0, (), all_counts, offset_mode=offset_mode)
    queues = tuple(
        LogicalQueue(global_id, (QueueSegment(0, name, queue_id),))
        for global_id, (name, queue_id) in enumerate(places)
    )
    after = replace(before, epoch=epoch, queues=queues)
    return _settled(ChangeKind.CONVERT, before, after)


def plan_deletion(
    topic: TopicMapping, bounds: Bounds, *, now_ms: int, is_purge: bool = False
) -> QueueChange:
    """Plan to delete a static topic: first at name servers, then brokers, then rows.

    `bounds` are those of every physical queue. Without a purge no segment may hold messages
    (logical-queues.md 19.2), and an unknown queue may hold some.

    Raises:
        QueueChangeRefused: a segment holds messages.
    """
    full = [
        f"logical queue {queue.global_id} on {segment.broker_group_name}"
        for queue, segment in topic.places()
        if segment.place not in bounds or not bounds[segment.place].is_empty
    ]
    if full and not is_purge:
        reason = f"{len(full)} segments may hold messages, the first is {full[0]}"
        raise QueueChangeRefused(topic.topic_name, reason)
    after = replace(begin(topic, now_ms), queues=())
    return QueueChange(ChangeKind.DELETE, topic, after, state=ChangeState.SPREADING)


def _settled(kind: ChangeKind, before: TopicMapping, after: TopicMapping) -> QueueChange:
    """Return a change without moves, whose result is sound."""
    check_sound(after)
    return QueueChange(kind, before, after, state=ChangeState.SPREADING)


def _with_new_queue(
    topic: TopicMapping, start: EndedQueue, name: str, bounds: Bounds | None = None
) -> TopicMapping:
    """Add a logical queue on a broker group, at offset 0 or after its former end."""
    own = [one for one in topic.retired if one.broker_group_name == name]
    by_id = {queue_id: one for (group, queue_id), one in (bounds or {}).items() if group == name}
    chosen = choose_retired(own, start.global_id, by_id)
    counts = topic.counts.get(name, QueueCounts())
    queue_id = counts.write_count if chosen is None else chosen.queue_id
    physical_start = 0 if chosen is None else by_id[queue_id].max_offset
    if queue_id > INT32_MAX - 1 or start.generation >= INT32_MAX:
        raise QueueChangeRefused(topic.topic_name, "no physical queue or generation is left")
    segment = QueueSegment(start.generation + 1, name, queue_id, start.logical_end, physical_start)
    former = topic.queue(start.global_id)
    segments = former.segments if former is not None else ()
    reused = {segment.place: physical_start} if physical_start else {}
    return replace(
        topic.with_queue(LogicalQueue(start.global_id, (*segments, segment))),
        counts={**topic.counts, name: counts.covering(queue_id)},
        retired=tuple(one for one in topic.retired if one.place != segment.place),
        reused={**topic.reused, **reused},
    )


def _revived(topic: TopicMapping, global_id: int, bounds: Bounds) -> TopicMapping:
    """Let a sealed queue take messages again: a new segment on the same broker group."""
    queue = topic.queue(global_id)
    assert queue is not None
    last = queue.segments[-1]
    open_topic = replace(topic, sealed_ids=topic.sealed_ids - {global_id})
    start = EndedQueue(global_id, last.generation, _end_of(queue))
    if last.physical_end == last.physical_start:
        # Two segments can't have one start, so the empty one goes (logical-queues.md 9.4).
        kept = queue.with_segments(*queue.segments[:-1])
        retired = (*open_topic.retired, retired_from(global_id, last))
        open_topic = replace(open_topic.with_queue(kept), retired=retired)
    return _with_new_queue(open_topic, start, last.broker_group_name, bounds)


def _end_of(queue: LogicalQueue) -> int:
    return max((one.logical_end for one in queue.segments), default=0)


def _homes_of(
    topic: TopicMapping, global_ids: Iterable[int], targets: Collection[str]
) -> dict[int, str]:
    """Return the broker groups where removed queues were last, if these are targets."""
    homes = {one.global_id: one for one in sorted(topic.retired, key=lambda one: one.generation)}
    return {
        one: homes[one].broker_group_name
        for one in global_ids
        if one in homes and homes[one].broker_group_name in targets
    }
