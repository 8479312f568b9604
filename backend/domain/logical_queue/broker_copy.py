"""Apply requests of a change to the state of one broker group (logical-queues.md 6.4, 9.4, 9.5).

The state of a topic on a broker is one value, which the broker writes in one durable step and
replicates. A refused request leaves no trace. Requests of older epochs are refused, and a repeated
request gives the same answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from backend.domain.logical_queue.commit import Prepared, Seal, retired_from
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueEpochFenced
from backend.domain.logical_queue.mapping import (
    BrokerMapping,
    MappingInfo,
    QueueCounts,
    RetiredQueue,
    Segments,
)
from backend.domain.logical_queue.placement import choose_retired
from backend.domain.logical_queue.segment import UNDECIDED, QueueBounds, QueueSegment
from backend.domain.logical_queue.segment_checks import check_segments, check_update, merged


@dataclass(frozen=True, slots=True)
class PreparedQueue:
    """Hold a physical queue that is reserved for a logical queue by a change."""

    epoch: int
    queue_id: int
    physical_start: int

    @property
    def answer(self) -> Prepared:
        """Return the answer to the request."""
        return Prepared(self.queue_id, self.physical_start)


@dataclass(frozen=True, slots=True)
class SealRecord:
    """Hold the seal of the leading segment; `result` is None until the queue is drained."""

    epoch: int
    generation: int
    result: Seal | None = None


@dataclass(frozen=True, slots=True)
class BrokerTopic:
    """Hold what one broker group keeps of a static topic.

    Attributes:
        prepared: The reserved physical queues, by global id.
        seals: The seals of leading segments, by global id.
        fences: The newest epoch of a seal or an unseal, by global id (INV-34).
        retired: The physical queues without a segment, by queue id.
    """

    mapping: BrokerMapping
    counts: QueueCounts = field(default_factory=QueueCounts)
    prepared: Mapping[int, PreparedQueue] = field(default_factory=dict)
    seals: Mapping[int, SealRecord] = field(default_factory=dict)
    fences: Mapping[int, int] = field(default_factory=dict)
    retired: Mapping[int, RetiredQueue] = field(default_factory=dict)

    @property
    def info(self) -> MappingInfo:
        """Return the head of the mapping."""
        return self.mapping.info

    def admits_sends(self, global_id: int) -> bool:
        """Return whether messages of a logical queue are taken: the leader, and no seal on it."""
        queue = self.mapping.queue(global_id)
        is_led = self.mapping.leads(global_id) and queue is not None
        if not is_led or queue is None or queue.leader is None:
            return False
        is_fenced = self.fences.get(global_id, 0) > self.info.epoch
        is_open = queue.leader.is_decided and not queue.leader.is_ended
        return is_open and global_id not in self.seals and not is_fenced


def prepare(
    topic: BrokerTopic,
    global_id: int,
    *,
    epoch: int,
    bounds: Mapping[int, QueueBounds],
    is_reuse_across_allowed: bool = False,
) -> tuple[BrokerTopic, Prepared]:
    """Reserve a physical queue: a retired one that is empty, else a new one (M1, H-16).

    `bounds` are the bounds of the retired queues. Before the answer the broker deletes positions
    of consumer groups on a retired queue.

    Raises:
        QueueEpochFenced: the broker knows a newer change.
    """
    _check_epoch(topic, global_id, epoch)
    held = topic.prepared.get(global_id)
    if held is not None:
        kept = replace(held, epoch=epoch)
        return replace(topic, prepared={**topic.prepared, global_id: kept}), kept.answer
    chosen = choose_retired(
        topic.retired.values(), global_id, bounds, is_across_allowed=is_reuse_across_allowed
    )
    if chosen is None:
        new = PreparedQueue(epoch, topic.counts.write_count, 0)
    else:
        new = PreparedQueue(epoch, chosen.queue_id, bounds[chosen.queue_id].max_offset)
    changed = replace(
        topic,
        counts=topic.counts.covering(new.queue_id),
        prepared={**topic.prepared, global_id: new},
        retired={key: one for key, one in topic.retired.items() if key != new.queue_id},
    )
    return changed, new.answer


def discard(topic: BrokerTopic, global_id: int, *, epoch: int) -> BrokerTopic:
    """Drop the physical queue that a change reserved; it is retired, since it may have been used.

    Raises:
        QueueEpochFenced: the broker knows a newer change.
    """
    _check_epoch(topic, global_id, epoch)
    prepared = {key: one for key, one in topic.prepared.items() if key != global_id}
    changed = replace(topic, prepared=prepared)
    return replace(changed, retired=_retired(topic, changed))


def seal(topic: BrokerTopic, global_id: int, *, epoch: int) -> BrokerTopic:
    """Stop new messages of a logical queue; the broker then drains the queue (M2).

    Raises:
        QueueEpochFenced: the broker knows a newer change. QueueChangeRefused: another broker group
        leads the queue.
    """
    _check_epoch(topic, global_id, epoch)
    queue = topic.mapping.queue(global_id)
    if queue is None or queue.leader is None or not topic.mapping.leads(global_id):
        raise QueueChangeRefused(
            topic.info.topic_name, f"the broker group does not lead logical queue {global_id}"
        )
    held = topic.seals.get(global_id)
    record = SealRecord(epoch, queue.leader.generation, held.result if held else None)
    return replace(
        topic,
        seals={**topic.seals, global_id: record},
        fences={**topic.fences, global_id: epoch},
    )


def finish_seal(topic: BrokerTopic, global_id: int, result: Seal) -> BrokerTopic:
    """Record the final end of a sealed queue, once all admitted messages can be read (H-6).

    A recorded end stays: it is the answer to each later seal request.

    Raises:
        QueueChangeRefused: the queue is not sealed.
    """
    record = topic.seals.get(global_id)
    if record is None:
        reason = f"logical queue {global_id} is not sealed"
        raise QueueChangeRefused(topic.info.topic_name, reason)
    if record.result is not None:
        return topic
    return replace(topic, seals={**topic.seals, global_id: replace(record, result=result)})


def unseal(topic: BrokerTopic, global_id: int, *, epoch: int) -> BrokerTopic:
    """Remove the seal of an older change; the queue takes messages again after the next mapping.

    Raises:
        QueueEpochFenced: the seal is as new as the request.
    """
    record = topic.seals.get(global_id)
    if record is not None and record.epoch >= epoch:
        raise QueueEpochFenced(topic.info.topic_name, epoch, held=record.epoch)
    _check_epoch(topic, global_id, epoch)
    return replace(
        topic,
        seals={key: one for key, one in topic.seals.items() if key != global_id},
        fences={**topic.fences, global_id: epoch},
    )


def store(
    topic: BrokerTopic | None,
    new: BrokerMapping,
    counts: QueueCounts,
    *,
    is_forced: bool = False,
    is_final: bool = False,
    allows_undecided: bool = False,
) -> BrokerTopic:
    """Store a mapping (513): check everything, then change mapping and counts together (H-5).

    With `is_final` no move of the change is open, and the mapping has all queues that the broker
    group leads: what else it led or reserved is retired. Lists that it keeps as a backup stay.
    Tools of RocketMQ decide the start of a new segment with a second mapping, so they need
    `allows_undecided`: until then the queue takes no messages (logical-queues.md 9.1, 9.2).

    Raises:
        QueueEpochFenced: the mapping is older than the stored one. QueueChangeRefused: the mapping
        breaks an invariant.
    """
    info = new.info
    if topic is not None and info.epoch < topic.info.epoch and not is_forced:
        raise QueueEpochFenced(info.topic_name, info.epoch, held=topic.info.epoch)
    _check_mapping(topic, new, is_forced=is_forced, allows_undecided=allows_undecided)
    base = BrokerTopic(new) if topic is None else topic
    lists = merged(None if topic is None else topic.mapping, new)
    hosted = {
        key: one
        for key, one in lists.items()
        # A shrink removes queues: their ids are beyond the count (logical-queues.md 19.4).
        if 0 <= key < info.queue_count
        # A queue whose only segment here was empty is led elsewhere, and not named any more.
        and not (is_final and key not in new.hosted and topic and topic.mapping.leads(key))
    }
    stored = BrokerMapping(info, hosted)
    stored = replace(stored, info=stored.head)
    used = _used_ids(stored)
    prepared = {
        key: one
        for key, one in base.prepared.items()
        if one.queue_id not in used and not (is_final and one.epoch <= info.epoch)
    }
    kept_counts = QueueCounts(
        max(base.counts.read_count, counts.read_count),
        max(base.counts.write_count, counts.write_count),
    )
    seals = {key: one for key, one in base.seals.items() if _is_still_leading(stored, key, one)}
    changed = replace(base, mapping=stored, counts=kept_counts, prepared=prepared, seals=seals)
    return replace(changed, retired=_retired(base, changed))


def retire(
    topic: BrokerTopic, queue: RetiredQueue, *, epoch: int, bounds: QueueBounds
) -> BrokerTopic:
    """Remember a physical queue whose segment was dropped because it has no data.

    A list that the broker group keeps as a backup goes, if it still names the physical queue: the
    leader does not name it any more (logical-queues.md 11.3).

    Raises:
        QueueEpochFenced: the broker knows a newer change. QueueChangeRefused: the queue has
        messages, or a segment or a reservation uses it.
    """
    _check_epoch(topic, queue.global_id, epoch)
    mapping = _without_backup(topic.mapping, queue)
    reserved = {one.queue_id for one in topic.prepared.values()}
    reason = None
    if queue.queue_id in _used_ids(mapping):
        reason = f"a segment uses physical queue {queue.queue_id}"
    elif queue.queue_id in reserved:
        reason = f"physical queue {queue.queue_id} is reserved"
    elif not bounds.is_empty:
        reason = f"physical queue {queue.queue_id} has messages"
    if reason is not None:
        raise QueueChangeRefused(topic.info.topic_name, reason)
    return replace(topic, mapping=mapping, retired={**topic.retired, queue.queue_id: queue})


def _check_epoch(topic: BrokerTopic, global_id: int, epoch: int) -> None:
    held = [topic.info.epoch, topic.fences.get(global_id, epoch)]
    if (prepared := topic.prepared.get(global_id)) is not None:
        held.append(prepared.epoch)
    if epoch < max(held):
        raise QueueEpochFenced(topic.info.topic_name, epoch, held=max(held))


def _check_mapping(
    topic: BrokerTopic | None, new: BrokerMapping, *, is_forced: bool, allows_undecided: bool
) -> None:
    findings = [
        one
        for global_id, segments in sorted(new.hosted.items())
        for one in check_segments(global_id, segments)
    ]
    if topic is not None:
        prepared = {
            key: (topic.info.broker_group_name, one.queue_id)
            for key, one in topic.prepared.items()
            if one.epoch == new.info.epoch
        }
        sealed = {key for key, one in topic.seals.items() if one.epoch == new.info.epoch}
        findings += check_update(
            topic.mapping, new, prepared=prepared, sealed=sealed, is_forced=is_forced
        )
        is_own = topic.info.broker_group_name == new.info.broker_group_name
        if not is_own or topic.info.topic_name != new.info.topic_name:
            reason = f"it is of {new.info.topic_name!r} on {new.info.broker_group_name!r}"
            raise QueueChangeRefused(topic.info.topic_name, reason)
    leading = [one for one in new.hosted if new.leads(one)]
    undecided = [one for one in leading if new.hosted[one][-1].logical_start == UNDECIDED]
    if undecided and not allows_undecided:
        # An undecided leader would answer -1 to producers (logical-queues.md 3).
        reason = f"the leading segment of logical queue {undecided[0]} is undecided"
        raise QueueChangeRefused(new.info.topic_name, reason)
    if findings:
        raise QueueChangeRefused(new.info.topic_name, "; ".join(map(str, findings[:5])))


def _without_backup(mapping: BrokerMapping, queue: RetiredQueue) -> BrokerMapping:
    """Return a copy without the list of a queue that is led elsewhere and names a retired queue."""
    kept = mapping.hosted.get(queue.global_id, ())
    if mapping.leads(queue.global_id) or queue.place not in {one.place for one in kept}:
        return mapping
    hosted = {key: one for key, one in mapping.hosted.items() if key != queue.global_id}
    return replace(mapping, hosted=hosted)


def _used_ids(mapping: BrokerMapping) -> frozenset[int]:
    name = mapping.info.broker_group_name
    return frozenset(
        one.queue_id
        for segments in mapping.hosted.values()
        for one in segments
        if one.broker_group_name == name
    )


def _is_still_leading(stored: BrokerMapping, global_id: int, record: SealRecord) -> bool:
    queue = stored.queue(global_id)
    leader = None if queue is None else queue.leader
    return leader is not None and leader.generation == record.generation


def _retired(before: BrokerTopic, after: BrokerTopic) -> Mapping[int, RetiredQueue]:
    """Add reserved queues that are not used, and queues whose segment was dropped."""
    name = after.info.broker_group_name
    used = _used_ids(after.mapping)
    reserved = {one.queue_id for one in after.prepared.values()}
    retired = {key: one for key, one in before.retired.items() if key not in used}
    for global_id, one in before.prepared.items():
        if one.queue_id not in used | reserved:
            start = one.physical_start
            retired[one.queue_id] = RetiredQueue(name, one.queue_id, global_id, 0, start)
    for global_id, segments in before.mapping.hosted.items():
        for segment in _dropped(after, global_id, segments):
            if segment.broker_group_name == name and segment.queue_id not in used:
                end = _end_of(segment, before.seals.get(global_id))
                retired[segment.queue_id] = retired_from(global_id, segment, final_offset=end)
    return retired


def _dropped(after: BrokerTopic, global_id: int, segments: Segments) -> Segments:
    """Return those segments of a former list that no broker group names now.

    Where the broker group lost the whole list, only its empty leading segment was dropped: the new
    leader may still name the older ones.
    """
    if global_id in after.mapping.hosted or global_id >= after.info.queue_count:
        return segments
    return segments[-1:]


def _end_of(segment: QueueSegment, record: SealRecord | None) -> int:
    if record is not None and record.generation == segment.generation and record.result:
        return record.result.physical_end
    return segment.physical_end if segment.is_ended else segment.physical_start
