"""Build topics and changes of them, in the notation of logical-queues.md 21."""

from backend.domain.logical_queue.change import (
    ChangeState,
    MoveStep,
    decide,
    due_requests,
    with_activated,
    with_prepared,
    with_sealed,
    with_spread,
)
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.mapping import LogicalQueue, QueueCounts, TopicMapping
from backend.domain.logical_queue.plan_checks import ClusterGroups
from backend.domain.logical_queue.planning import plan_creation
from backend.domain.logical_queue.segment import OPEN, QueueSegment

NOW = 1_760_000_000_000


def groups(*names, silent=(), cordoned=()):
    return ClusterGroups(
        frozenset(names), frozenset(names) - frozenset(silent), frozenset(cordoned)
    )


def segment(generation, place, logical=0, start=0, end=OPEN, **times):
    name, queue_id = place.split(":q")
    return QueueSegment(generation, name, int(queue_id), logical, start, end, **times)


def queue(*segments, global_id=0):
    return LogicalQueue(global_id, segments)


def topic(*lists, counts=None, epoch=NOW, **others):
    """Build a topic from the segments of each queue; counts follow from the segments."""
    queues = tuple(queue(*one, global_id=at) for at, one in enumerate(lists))
    found = {}
    for one in queues:
        for part in one.segments:
            name = part.broker_group_name
            found[name] = found.get(name, QueueCounts()).covering(part.queue_id)
    for name, count in (counts or {}).items():
        found[name] = QueueCounts(count, count)
    return TopicMapping("T", epoch, queues, found, **others)


def created(count, *names, cluster=None, **others):
    change = plan_creation(
        "T", count, targets=names, groups=groups(*(cluster or names)), now_ms=NOW, **others
    )
    return spread(change)


def spread(change):
    for name in change.after.counts:
        change = with_spread(change, name)
    assert change.state is ChangeState.DONE
    return change.after


def moved(change, ends, *, prepared=None):
    """Carry a change out: sources seal at these ends, by global id."""
    for one in change.moves:
        global_id, name = one.global_id, one.relocation.destination
        new = Prepared(change.after.counts[name].write_count)
        change = with_prepared(change, global_id, (prepared or {}).get(global_id, new))
        if one.forced_start is None:
            change = with_sealed(change, global_id, Seal(ends[global_id]))
        change = decide(change, global_id)
        change = with_activated(change, global_id)
    assert all(one.step is MoveStep.ACTIVE for one in change.moves)
    assert change.state is ChangeState.SPREADING
    assert due_requests(change)
    return spread(change)


def shown(topic, global_id):
    """Write the segments of a queue."""
    return " ".join(map(str, topic.queue(global_id).segments))
