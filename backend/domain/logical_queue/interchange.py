"""Write a static topic as a plan file of RocketMQ, and plan a change from one.

A queue that is on its way ends with an undecided segment at its destination, as in the files of
RocketMQ (logical-queues.md 10.3). `copies` are what the broker groups hold: they confirm how far a
lost change is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.change import (
    BEFORE_COMMIT,
    ChangeKind,
    ChangeState,
    MoveStep,
    QueueChange,
    QueueMove,
    next_epoch,
)
from backend.domain.logical_queue.commit import Prepared
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueMappingBroken
from backend.domain.logical_queue.mapping import (
    GLOBAL_SCOPE,
    LogicalQueue,
    Place,
    QueueCounts,
    RetiredQueue,
    TopicCopy,
    TopicMapping,
    copy_for,
)
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.plan_checks import check_sound
from backend.domain.logical_queue.segment import UNDECIDED, QueueSegment
from backend.domain.logical_queue.stock_json import PlanFile, PlanFileKind, PlannedBroker
from backend.domain.logical_queue.topic_checks import Observation, check_topic
from backend.domain.logical_queue.topic_settings import read_settings, with_settings
from backend.domain.topic_layout import TopicLayout


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Hold the mapping of a plan file up to the last decided segments, and the undecided ones."""

    mapping: TopicMapping
    pending: Mapping[int, QueueSegment]


def to_plan_file(
    mapping: TopicMapping, moves: Iterable[QueueMove], layouts: Mapping[str, TopicLayout]
) -> PlanFile:
    """Write a mapping and its open moves; `layouts` are those of the brokers that answered.

    Raises:
        QueueChangeRefused: queues are just being ended, which a plan file can't say.
    """
    moves = sorted(moves, key=lambda one: one.global_id)
    if any(one.is_end for one in moves):
        raise QueueChangeRefused(mapping.topic_name, "its last queues are being sealed: try later")
    written = mapping
    open_moves = [one for one in moves if one.step in BEFORE_COMMIT]
    for move in open_moves:
        written = _with_pending(written, move)
    return PlanFile(
        topic_name=mapping.topic_name,
        kind=PlanFileKind.REMAPPING if open_moves else PlanFileKind.CREATE_OR_UPDATE,
        epoch=mapping.epoch,
        brokers={
            name: _planned(written, name, layouts.get(name, TopicLayout()))
            for name in written.counts
        },
        incoming=tuple(sorted({one.relocation.destination for one in open_moves})),
        outgoing=tuple(sorted({one.relocation.source for one in open_moves})),
    )


def read_plan_file(plan: PlanFile) -> ReadPlan:
    """Read a mapping from a plan file, and check all invariants on it.

    Raises:
        QueueMappingBroken: it breaks an invariant. InvalidQueueMapping: an attribute is malformed.
    """
    copies = {
        name: TopicCopy(
            QueueCounts(one.layout.read_queue_count, one.layout.write_queue_count),
            one.mapping,
            one.topic_name,
        )
        for name, one in sorted(plan.brokers.items())
    }
    lists = {
        global_id: segments
        for copy in copies.values()
        if copy.mapping is not None
        for global_id, segments in copy.mapping.hosted.items()
        if copy.mapping.leads(global_id)
    }
    pending = {key: one[-1] for key, one in lists.items() if _is_undecided(one[-1])}
    kept = {key: one[:-1] if key in pending else one for key, one in lists.items()}
    attributes = next(iter(plan.brokers.values())).layout.attributes if plan.brokers else {}
    settings = read_settings(attributes)
    scopes = [one.mapping.info.scope for one in copies.values() if one.mapping is not None]
    mapping = TopicMapping(
        plan.topic_name,
        plan.epoch,
        tuple(LogicalQueue(key, segments) for key, segments in sorted(kept.items())),
        {name: copy.counts for name, copy in copies.items()},
        scope=min(scopes, default=GLOBAL_SCOPE),
        offset_mode=settings.offset_mode,
        block_size=settings.block_size,
        ended=settings.ended,
        reused=_reused(segment for segments in kept.values() for segment in segments),
        forced=frozenset(
            (key, one.generation)
            for key, segments in kept.items()
            for one in segments[:-1]
            if not one.is_ended
        ),
        sealed_ids=frozenset(key for key, one in kept.items() if one and one[-1].is_ended),
    )
    # Before the moves each broker group has another copy, so the copies are checked as they are.
    seen = Observation(plan.topic_name, None, copies)
    findings = [str(one) for one in check_topic(replace(seen, truth=_whole(mapping, pending)))]
    if findings or not kept or not all(kept.values()):
        raise QueueMappingBroken(plan.topic_name, tuple(findings) or ("a queue has no segment",))
    return ReadPlan(_without_reserved(mapping, pending), pending)


def plan_import(
    read: ReadPlan,
    present: TopicMapping | None,
    copies: Mapping[str, BrokerTopic],
    *,
    names: Iterable[str],
    now_ms: int,
    is_forced: bool = False,
) -> QueueChange:
    """Plan the change of a plan file: moves go on at the first step that no broker confirms.

    `present` is the mapping in the database; without one the lost rows are written again. Queues of
    the present mapping stay as they are, since a file may lack the ends of segments. An epoch that
    is not greater than the present one needs `is_forced`, and is raised. `names` are all broker
    groups.

    Raises:
        QueueMappingBroken: the result breaks an invariant. QueueChangeRefused: the epoch is too
        low, or the file changes queues in another way than by moves and new ones.
    """
    mapping = read.mapping
    newest = max(
        [0 if present is None else present.epoch, *(one.info.epoch for one in copies.values())]
    )
    _check_epoch(mapping, present, newest, is_forced=is_forced)
    base = replace(mapping, retired=_retired_of(mapping, copies))
    if present is not None:
        _check_same_queues(present, read)
        base = _grown(present, mapping)
    epoch = mapping.epoch
    if epoch < newest or (present is not None and epoch == present.epoch):
        held = replace(mapping, epoch=newest)
        epoch = next_epoch(held, now_ms=now_ms, topic_name=mapping.topic_name)
    counts = {**{name: QueueCounts() for name in sorted(names)}, **base.counts}
    after = replace(base, epoch=epoch, counts=counts)
    check_sound(after)
    moves = tuple(
        _resumed(after, global_id, segment, copies)
        for global_id, segment in sorted(read.pending.items())
    )
    state = ChangeState.MOVING if moves else ChangeState.SPREADING
    return QueueChange(
        ChangeKind.IMPORT, after if present is None else present, after, moves, state
    )


def _check_epoch(
    mapping: TopicMapping, present: TopicMapping | None, newest: int, *, is_forced: bool
) -> None:
    if mapping.epoch < newest and not is_forced:
        reason = f"epoch {mapping.epoch} of the file is older than epoch {newest} of the topic"
        raise QueueChangeRefused(mapping.topic_name, f"{reason}: export it again, or give force")
    if present is not None and mapping.epoch == present.epoch and not is_forced:
        reason = f"it has epoch {mapping.epoch} of the file already"
        raise QueueChangeRefused(mapping.topic_name, reason)


def _check_same_queues(present: TopicMapping, read: ReadPlan) -> None:
    """Check that the file keeps every segment; only moves and new queues may differ."""
    wanted = {one.global_id: one for one in read.mapping.queues}
    for queue in present.queues:
        other = wanted.pop(queue.global_id, None)
        if other is None:
            what = f"the file has no logical queue {queue.global_id}: shrink the topic instead"
            raise QueueChangeRefused(present.topic_name, what)
        if [one.place for one in queue.segments] != [one.place for one in other.segments] or [
            one.logical_start for one in queue.segments
        ] != [one.logical_start for one in other.segments]:
            what = f"the file has other segments of logical queue {queue.global_id}"
            raise QueueChangeRefused(present.topic_name, f"{what}: order a move instead")
    taken = {segment.place for _, segment in present.places()}
    taken |= {one.place for one in present.retired}
    ended = {one.global_id for one in present.ended}
    for queue in wanted.values():
        first = queue.segments[0]
        is_new = len(queue.segments) == 1 and first.logical_start == 0 and not first.is_ended
        if not is_new or queue.segments[0].place in taken or queue.global_id in ended:
            what = f"logical queue {queue.global_id} of the file is not a new one"
            raise QueueChangeRefused(present.topic_name, f"{what}: expand the topic instead")


def _grown(present: TopicMapping, file: TopicMapping) -> TopicMapping:
    """Return the present mapping with the new queues of a file, and with what these need."""
    known = {one.global_id for one in present.queues}
    new = [one for one in file.queues if one.global_id not in known]
    queues = sorted((*present.queues, *new), key=lambda one: one.global_id)
    grown = replace(
        present,
        queues=tuple(queues),
        reused={**present.reused, **_reused(one.segments[0] for one in new)},
    )
    for name, counts in file.counts.items():
        held = present.counts.get(name, QueueCounts())
        grown = grown.with_counts(
            name,
            QueueCounts(
                max(held.read_count, counts.read_count), max(held.write_count, counts.write_count)
            ),
        )
    return grown


def _resumed(
    mapping: TopicMapping,
    global_id: int,
    pending: QueueSegment,
    copies: Mapping[str, BrokerTopic],
) -> QueueMove:
    """Return a move with the steps that brokers confirm in the epoch of the file."""
    queue = mapping.queue(global_id)
    assert queue is not None
    assert queue.leader is not None
    source, destination = queue.leader.broker_group_name, pending.broker_group_name
    move = QueueMove(Relocation(global_id, source, destination))
    giver, taker = copies.get(source), copies.get(destination)
    reserved = None if taker is None else taker.prepared.get(global_id)
    if reserved is None or reserved.epoch != mapping.epoch:
        return move
    prepared = Prepared(reserved.queue_id, reserved.physical_start)
    move = replace(move, step=MoveStep.PREPARED, prepared=prepared)
    seal = None if giver is None else giver.seals.get(global_id)
    if seal is None or seal.epoch != mapping.epoch or seal.result is None:
        return move
    return replace(move, step=MoveStep.SEALED, seal=seal.result)


def _with_pending(mapping: TopicMapping, move: QueueMove) -> TopicMapping:
    """Add the undecided segment of an open move: the reserved queue, else the next free one."""
    queue = mapping.queue(move.global_id)
    assert queue is not None
    name = move.relocation.destination
    counts = mapping.counts[name]
    prepared = move.prepared or Prepared(counts.write_count)
    segment = QueueSegment(
        queue.next_generation, name, prepared.queue_id, UNDECIDED, prepared.physical_start
    )
    added = mapping.with_queue(queue.with_segments(*queue.segments, segment))
    return added.with_counts(name, counts.covering(prepared.queue_id))


def _without_reserved(mapping: TopicMapping, pending: Mapping[int, QueueSegment]) -> TopicMapping:
    """Take back the counts that undecided segments need: brokers count them when they reserve."""
    reserved: dict[str, set[int]] = defaultdict(set)
    for segment in pending.values():
        reserved[segment.broker_group_name].add(segment.queue_id)
    for name, ids in reserved.items():
        counts = mapping.counts[name]
        while counts.write_count - 1 in ids:
            read_count = max(counts.write_count, counts.read_count) - 1
            counts = QueueCounts(read_count, counts.write_count - 1)
        mapping = mapping.with_counts(name, counts)
    return mapping


def _whole(mapping: TopicMapping, pending: Mapping[int, QueueSegment]) -> TopicMapping:
    queues = tuple(
        one.with_segments(*one.segments, pending[one.global_id])
        if one.global_id in pending
        else one
        for one in mapping.queues
    )
    forced = mapping.forced | {
        (one.global_id, one.segments[-1].generation)
        for one in mapping.queues
        if one.global_id in pending and one.segments
    }
    reused = {**mapping.reused, **_reused(pending.values())}
    return replace(mapping, queues=queues, forced=forced, reused=reused)


def _reused(segments: Iterable[QueueSegment]) -> dict[Place, int]:
    return {one.place: one.physical_start for one in segments if one.physical_start > 0}


def _retired_of(
    mapping: TopicMapping, copies: Mapping[str, BrokerTopic]
) -> tuple[RetiredQueue, ...]:
    used = {segment.place for _, segment in mapping.places()}
    held = [one for _, copy in sorted(copies.items()) for one in copy.retired.values()]
    return tuple(one for one in held if one.place not in used)


def _planned(mapping: TopicMapping, name: str, layout: TopicLayout) -> PlannedBroker:
    counts = mapping.counts[name]
    written = replace(
        layout,
        read_queue_count=counts.read_count,
        write_queue_count=counts.write_count,
        attributes=with_settings(layout.attributes, mapping),
    )
    return PlannedBroker(mapping.topic_name, written, copy_for(mapping, name))


def _is_undecided(segment: QueueSegment) -> bool:
    return segment.logical_start == UNDECIDED
