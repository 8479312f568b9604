"""Check the segments of one logical queue, and an update of one copy (logical-queues.md 5)."""

from collections.abc import Container, Iterator, Mapping
from itertools import pairwise

from backend.domain.logical_queue.invariant import Invariant, MappingFinding
from backend.domain.logical_queue.mapping import BrokerMapping, Place, Segments
from backend.domain.logical_queue.segment import OPEN, QueueSegment

Findings = Iterator[MappingFinding]


def check_segments(global_id: int, segments: Segments, *, allows_touching: bool = True) -> Findings:
    """Give what breaks INV-8 to INV-14 in one list.

    Tools of RocketMQ also refuse a segment that ends where the next one starts: pass
    `allows_touching=False` for their judgement.
    """
    for segment in segments:
        yield from _check_alone(_where(global_id, segment), segment)
    if segments and not any(one.is_decided for one in segments):
        where = f"logical queue {global_id}"
        yield MappingFinding(Invariant.ONLY_LAST_UNDECIDED, where, "no segment is decided")
    for one, after in pairwise(segments):
        where = _where(global_id, after)
        if not one.is_decided:
            what = "a segment follows the undecided one"
            yield MappingFinding(Invariant.ONLY_LAST_UNDECIDED, _where(global_id, one), what)
        if after.generation <= one.generation:
            what = f"generation {after.generation} follows {one.generation}"
            yield MappingFinding(Invariant.GENERATIONS_RISE, where, what)
    for one, after in pairwise([one for one in segments if one.is_decided]):
        where = _where(global_id, after)
        if after.logical_start <= one.logical_start:
            what = f"it starts at {after.logical_start}, the one before at {one.logical_start}"
            yield MappingFinding(Invariant.STARTS_RISE, where, what)
        is_apart = one.logical_end < after.logical_start or (
            allows_touching and one.logical_end == after.logical_start
        )
        if one.is_ended and not is_apart:
            what = f"it starts at {after.logical_start}, the one before ends at {one.logical_end}"
            yield MappingFinding(Invariant.RANGES_APART, where, what)


def check_update(
    stored: BrokerMapping,
    new: BrokerMapping,
    *,
    prepared: Mapping[int, Place] | None = None,
    sealed: Container[int] = (),
    is_forced: bool = False,
) -> Findings:
    """Give what breaks INV-25 to INV-30 if a broker stores a new mapping over its own.

    The queues of one change move one after another in one epoch. So a broker takes over the queues
    that it has `prepared` in the stored epoch. A list that it keeps as a backup only may grow.
    A queue that it leads keeps its leader in that epoch, unless it is `sealed` in it (INV-27).

    A forced mapping only has to keep the queues that it does not name, which `merged` does.
    """
    if is_forced:
        return
    name = stored.info.broker_group_name
    where = f"broker group {name}"
    if new.info.epoch < stored.info.epoch:
        what = f"epoch {new.info.epoch} follows {stored.info.epoch}"
        yield MappingFinding(Invariant.EPOCH_NOT_LOWER, where, what)
    if new.info.scope != stored.info.scope:
        what = f"scope {new.info.scope!r} follows {stored.info.scope!r}"
        yield MappingFinding(Invariant.SCOPE_UNCHANGED, where, what)
    for global_id, former in sorted(stored.hosted.items()):
        segments = new.hosted.get(global_id)
        if new.info.epoch == stored.info.epoch:
            place = (prepared or {}).get(global_id)
            if global_id not in sealed or _leads(name, segments):
                yield from _check_same_epoch(name, global_id, former, segments, place)
        if segments is not None:
            yield from check_immutable(global_id, former, segments)


def check_immutable(global_id: int, former: Segments, segments: Segments) -> Findings:
    """Give what breaks INV-29 between two versions of one list (H-2, H-7).

    Segments may disappear at the old end and appear at the new end. A recorded end may appear, and
    is final then.
    """
    held = {one.generation: one for one in former}
    for segment in segments:
        before = held.get(segment.generation)
        reason = None if before is None else _difference(before, segment)
        if reason is not None:
            yield MappingFinding(Invariant.SEGMENTS_IMMUTABLE, _where(global_id, segment), reason)
    yield from _check_ends_of_list(global_id, former, segments)


def merged(stored: BrokerMapping | None, new: BrokerMapping) -> Mapping[int, Segments]:
    """Return the lists after an update: queues that the new mapping lacks are kept (INV-28)."""
    return {**(stored.hosted if stored is not None else {}), **new.hosted}


def _check_alone(where: str, segment: QueueSegment) -> Findings:
    numbers = {
        "generation": segment.generation,
        "queue id": segment.queue_id,
        "physical start": segment.physical_start,
    }
    for name, value in numbers.items():
        if value < 0:
            yield MappingFinding(Invariant.NOT_NEGATIVE, where, f"{name} is {value}")
    if segment.physical_end != OPEN and segment.physical_end < segment.physical_start:
        what = f"it ends at {segment.physical_end} and starts at {segment.physical_start}"
        yield MappingFinding(Invariant.END_AFTER_START, where, what)
    if not segment.is_decided and segment.physical_end != OPEN:
        what = f"it is undecided and ends at {segment.physical_end}"
        yield MappingFinding(Invariant.UNDECIDED_HAS_NO_RANGE, where, what)


def _check_same_epoch(
    name: str, global_id: int, former: Segments, segments: Segments | None, prepared: Place | None
) -> Findings:
    is_led = bool(former) and former[-1].broker_group_name == name
    if segments is None:
        is_kept = not is_led
        what = "the queue is missing, and the epoch is the same"
    else:
        own = segments[-1].place if segments and segments[-1].broker_group_name == name else None
        is_kept = _leader(former) == _leader(segments) or (not is_led and own in {None, prepared})
        what = f"leader {_leader(segments)} replaces {_leader(former)} in the same epoch"
    if not is_kept:
        where = f"logical queue {global_id}"
        yield MappingFinding(Invariant.SAME_EPOCH_SAME_LEADERS, where, what)


def _leads(name: str, segments: Segments | None) -> bool:
    return segments is not None and segments[-1:] != () and segments[-1].broker_group_name == name


def _leader(segments: Segments) -> tuple[int, str, int, int] | None:
    if not segments:
        return None
    last = segments[-1]
    return last.generation, last.broker_group_name, last.queue_id, last.physical_start


def _difference(before: QueueSegment, after: QueueSegment) -> str | None:
    """Say what changed in a segment that must not."""
    if before.place != after.place or before.physical_start != after.physical_start:
        return f"{after} replaces {before}"
    if before.is_decided and after.logical_start != before.logical_start:
        return f"it started at {before.logical_start}, now at {after.logical_start}"
    if before.is_ended and after.physical_end != before.physical_end:
        return f"it ended at {before.physical_end}, now at {after.physical_end}"
    return None


def _check_ends_of_list(global_id: int, former: Segments, segments: Segments) -> Findings:
    """Check that a list loses segments at its old end only, and gains them at its new end only.

    The former last segment may go too if the next one starts where it started: it was empty.
    """
    kept = {one.generation for one in segments} & {one.generation for one in former}
    gained = [one for one in segments if one.generation not in kept]
    oldest = min(kept, default=None)
    lost = [
        one
        for one in former
        if one.generation not in kept and oldest is not None and one.generation > oldest
    ]
    was_empty = bool(gained) and [gained[0].logical_start] == [one.logical_start for one in lost]
    is_early = any(one.generation <= former[-1].generation for one in gained) if former else False
    if is_early or (lost and not was_empty) or (former and not segments):
        before = [one.generation for one in former]
        what = f"generations {[one.generation for one in segments]} replace {before}"
        yield MappingFinding(Invariant.SEGMENTS_IMMUTABLE, f"logical queue {global_id}", what)


def _where(global_id: int, segment: QueueSegment) -> str:
    return f"logical queue {global_id}, generation {segment.generation}"
