"""Plan moves of logical queues between broker groups (logical-queues.md 8, 9.4, 19.5).

Each plan is a change that has not begun, and depends on its input alone. Nothing here asks a
broker.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from backend.domain.logical_queue.change import ChangeKind, ChangeState, QueueChange, QueueMove
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.mapping import LogicalQueue, TopicMapping
from backend.domain.logical_queue.placement import (
    Relocation,
    evacuate,
    relocate,
    spread_onto,
)
from backend.domain.logical_queue.plan_checks import (
    ClusterGroups,
    begin,
    check_sound,
    check_targets_answer,
    refuse,
)
from backend.domain.logical_queue.segment import INT64_MAX, QueueSegment, block_round_up
from backend.domain.logical_queue.topic_checks import check_targets


def plan_remapping(
    topic: TopicMapping, *, targets: Collection[str], groups: ClusterGroups, now_ms: int
) -> QueueChange:
    """Plan to spread all logical queues evenly over the targets, with the fewest moves (L18, L19).

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: a master does not
        answer, or a shrink is not finished.
    """
    check_targets_answer(topic.topic_name, targets, groups)
    change = plan_moves(
        topic, relocate(topic, targets), kind=ChangeKind.REMAP, groups=groups, now_ms=now_ms
    )
    moved = change.after
    for move in change.moves:
        destination = QueueSegment(0, move.relocation.destination, 0)
        moved = moved.with_queue(LogicalQueue(move.global_id, (destination,)))
    refuse(topic, check_targets(moved, targets))
    return change


def plan_evacuation(
    topic: TopicMapping,
    leaving: str,
    *,
    targets: Collection[str],
    groups: ClusterGroups,
    now_ms: int,
) -> QueueChange:
    """Plan to move all logical queues off one broker group; all others stay (L14).

    No queue moves to a cordoned broker group. The broker group that is left keeps its data until
    the data expires.

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: there is no other
        target, a master does not answer, or a shrink is not finished.
    """
    others = set(targets) - {leaving} - groups.cordoned
    if not others:
        reason = f"no other broker group than {leaving} answers and may be written"
        raise QueueChangeRefused(topic.topic_name, reason)
    moves = evacuate(topic, leaving, others)
    return plan_moves(topic, moves, kind=ChangeKind.MIGRATE, groups=groups, now_ms=now_ms)


def plan_spread(
    topic: TopicMapping, newcomer: str, *, groups: ClusterGroups, now_ms: int
) -> QueueChange:
    """Plan to give a new broker group its even share of the logical queues (L15).

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: a master does not
        answer, or a shrink is not finished.
    """
    moves = spread_onto(topic, newcomer)
    return plan_moves(topic, moves, kind=ChangeKind.MIGRATE, groups=groups, now_ms=now_ms)


def plan_moves(
    topic: TopicMapping,
    relocations: Iterable[Relocation],
    *,
    kind: ChangeKind = ChangeKind.MIGRATE,
    groups: ClusterGroups,
    now_ms: int,
    forced_ends: Mapping[int, int] | None = None,
    forced_starts: Mapping[int, int] | None = None,
) -> QueueChange:
    """Plan the moves of some logical queues; a move to the present leader is left out.

    `forced_ends` are the last known logical ends of queues whose source does not answer. Such a
    queue moves without a seal, and jumps to a later block (L46), or to the start that an operator
    chose in `forced_starts`.

    Raises:
        QueueMappingBroken: the present mapping has findings. QueueChangeRefused: a queue is
        unknown or moves twice, a broker group both gives and takes queues, a master does not
        answer, or a shrink is not finished.
    """
    check_sound(topic)
    forced, starts = forced_ends or {}, forced_starts or {}
    moves = []
    for one in sorted(relocations, key=lambda one: one.global_id):
        queue = topic.queue(one.global_id)
        if queue is None or queue.leader is None or queue.leader_name != one.source:
            reason = f"{one.source} does not lead logical queue {one.global_id}"
            raise QueueChangeRefused(topic.topic_name, reason)
        if one.source != one.destination:
            wish = starts.get(one.global_id)
            start = _forced_start(topic, queue.leader, forced.get(one.global_id), wish)
            moves.append(QueueMove(one, forced_start=start))
    _check_moves(topic, moves, groups)
    before = begin(topic, now_ms, names=groups.names)
    state = ChangeState.MOVING if moves else ChangeState.SPREADING
    return QueueChange(kind, topic, before, tuple(moves), state)


def _forced_start(
    topic: TopicMapping, source: QueueSegment, last_known: int | None, wish: int | None
) -> int | None:
    """Return the start after a jump, at or after the last known end and after the old start."""
    if last_known is None:
        return None
    start = block_round_up(last_known, topic.block_size) if wish is None else wish
    if last_known < source.logical_start or start < last_known or start <= source.logical_start:
        reason = f"{source} was last known to end at {last_known}, and {start} is no start after it"
        raise QueueChangeRefused(topic.topic_name, reason)
    if start > INT64_MAX:
        raise QueueChangeRefused(topic.topic_name, "no logical offset is left")
    return start


def _check_moves(topic: TopicMapping, moves: list[QueueMove], groups: ClusterGroups) -> None:
    sources = {one.relocation.source for one in moves if one.forced_start is None}
    givers = {one.relocation.source for one in moves}
    takers = {one.relocation.destination for one in moves}
    ids = [one.global_id for one in moves]
    if topic.sealed_ids:
        raise QueueChangeRefused(topic.topic_name, "its queue count is being reduced")
    if len(set(ids)) != len(ids):
        raise QueueChangeRefused(topic.topic_name, "a logical queue moves twice")
    if both := sorted(givers & takers):
        raise QueueChangeRefused(topic.topic_name, f"{both[0]} both gives and takes queues")
    if unknown := sorted(takers - groups.names):
        raise QueueChangeRefused(topic.topic_name, f"{unknown[0]} is not in the cluster")
    if silent := sorted(set(chain(sources, takers)) - groups.answering):
        raise QueueChangeRefused(topic.topic_name, f"the master of {silent[0]} does not answer")
