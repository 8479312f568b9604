"""Move logical queues of a static topic to other broker groups, or take such moves back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.db.logical_queues import StoredChange
from backend.domain.logical_queue.change import QueueChange
from backend.domain.logical_queue.placement import Relocation
from backend.domain.orders.static_topic import MoveQueues
from backend.domain.plan import Check, CheckVerdict, Plan, Precondition, Risk, no_undo
from backend.operations.actions.queue_moves import (
    BeginMoves,
    PrepareQueues,
    RollBackMoves,
    SwitchQueues,
)
from backend.operations.actions.static_topics import SpreadMapping, count_queues, name_queues
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, queue_moves, static_topics
from backend.services.logical_queue.bounds import find_last_known_ends

KIND_NAME: Final = "move_queues"


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the topic, the action that records the moves, and the planned change.

    `rolls_back` is the unfinished change that is undone in place of new moves.
    """

    topic: static_topics.Present | None
    begin: BeginMoves | None
    change: QueueChange | None
    rolls_back: StoredChange | None = None


async def read_facts(order: MoveQueues, context: OperationContext) -> Facts[Present]:
    """Read the mapping, and the broker groups that give and take queues.

    Raises:
        InvalidParameters: the moves are not chosen in one way. InvalidName: the name is invalid
        for a topic of a user. ClusterNotFound: the cluster does not exist. BrokerGroupNotFound: a
        named broker group does not exist. StaticTopicNotFound: there is no such topic.
        QueueMappingBroken: its mapping breaks invariants. QueueChangeRefused: a change of the
        topic is not finished, the rules forbid the moves, or a master does not answer.
    """
    queue_moves.check_choice(order)
    former = await queue_moves.find_taken_back(order, context)
    if former is not None and former.ended_at is None:
        return _roll_back_facts(former)
    topic = await static_topics.read_present(
        order.cluster_name, order.topic_name, context, with_replicas=order.force
    )
    if former is not None:
        moves = queue_moves.moves_back(topic.mapping, former)
    else:
        moves = queue_moves.choose_moves(
            order, topic.mapping, topic.holders.groups, now_ms=context.clock.now_ms()
        )
    ends: Mapping[int, int] = {}
    if order.force:
        ids = [one.global_id for one in moves]
        ends = await find_last_known_ends(topic.mapping, ids, topic.holders, context.brokers)
    begin, checks = _plan_moves(order, topic, moves, ends)
    is_possible = all(one.verdict is not CheckVerdict.BLOCK for one in checks)
    change = begin.plan(topic.mapping, topic.holders, context) if is_possible else None
    return Facts(
        Present(topic, begin, change),
        (*topic.preconditions, Precondition("queues that move", queue_moves.moves_text(moves))),
        checks,
    )


async def preview(order: MoveQueues, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe the segments before and after, and what clients notice."""
    present = facts.seen
    if present.rolls_back is not None:
        return _roll_back_plan(order, facts, present.rolls_back)
    topic, begin = present.topic, present.begin
    assert topic is not None
    assert begin is not None
    change = present.change
    ids = [one.global_id for one in begin.moves]
    before = after = topic.mapping
    if change is not None:
        after = static_topics.planned_result(change, topic.bounds)
    takers = {one.destination for one in begin.moves}
    givers = {one.source for one in begin.moves}
    asked = takers if order.force else takers | givers
    return Plan(
        summary=_summary(order, begin),
        risk=Risk.LOSS if order.force else Risk.SERVICE,
        steps=planned_steps(
            actions_of(begin, order.in_flight_max, may_redirect=order.leaving is not None)
        ),
        changes=static_topics.differences(before, after),
        impact=_impact(order, begin),
        checks=(
            *facts.checks,
            *await static_topics.check_sets(order.cluster_name, asked, context),
            *[
                await static_topics.check_room(topic.holders, name, context)
                for name in sorted(takers)
            ],
        ),
        way_back=_undo(order, begin),
        loss=_loss(begin) if order.force else None,
        facts={"segments": static_topics.pictures(before, after, ids, topic.bounds)},
    )


def _summary(order: MoveQueues, begin: BeginMoves) -> str:
    """Say how many queues move, and between which broker groups."""
    if not begin.moves:
        return f"No logical queue of topic {order.topic_name} moves"
    givers = masters.shortened(sorted({one.source for one in begin.moves}))
    takers = masters.shortened(sorted({one.destination for one in begin.moves}))
    verb = "moves" if len(begin.moves) == 1 else "move"
    queues = f"{count_queues(len(begin.moves))} of topic {order.topic_name}"
    return f"{queues} {verb} from {givers} to {takers}"


def _plan_moves(
    order: MoveQueues,
    topic: static_topics.Present,
    moves: Sequence[Relocation],
    known_ends: Mapping[int, int],
) -> tuple[BeginMoves, tuple[Check, ...]]:
    """Return the action that records the moves, and what may forbid it."""
    checks = [_check_something_moves(order, moves)]
    ends: dict[int, int] = {}
    starts: dict[int, int] = {}
    if order.force:
        checks += _check_forced(order, topic, moves, known_ends)
        for one in moves:
            queue = topic.mapping.queue(one.global_id)
            assert queue is not None
            assert queue.leader is not None
            ends[one.global_id] = known_ends.get(one.global_id, queue.leader.logical_start)
        if order.force_offset is not None:
            starts = dict.fromkeys(ends, order.force_offset)
    else:
        named = {one.source for one in moves} | {one.destination for one in moves}
        checks.append(static_topics.check_answers(topic.holders, named))
    takers = [one.destination for one in moves]
    checks.append(static_topics.check_cordons(topic.holders.groups, takers))
    begin = BeginMoves(
        order.cluster_name, order.topic_name, tuple(moves), topic.mapping.epoch, ends, starts
    )
    return begin, tuple(checks)


def _check_something_moves(order: MoveQueues, moves: Sequence[Relocation]) -> Check:
    name = "something moves"
    if moves:
        return Check(name, CheckVerdict.PASS, count_queues(len(moves)))
    if order.targets:
        why = "the queues are spread evenly already; only the epoch of the mapping rises (L18)"
        return Check(name, CheckVerdict.PASS, why)
    return Check(name, CheckVerdict.BLOCK, queue_moves.why_nothing_moves(order))


def _check_forced(
    order: MoveQueues,
    topic: static_topics.Present,
    moves: Sequence[Relocation],
    known_ends: Mapping[int, int],
) -> list[Check]:
    """Check that the sources are gone, and that offsets behind theirs are known."""
    answering = sorted({one.source for one in moves} & topic.holders.groups.answering)
    checks = [Check("the sources are gone", CheckVerdict.PASS, "none of their masters answers")]
    if answering:
        why = f"{masters.shortened(answering)} answers: move without force"
        checks = [Check("the sources are gone", CheckVerdict.BLOCK, why)]
    name = "last known offsets"
    unknown = [one.global_id for one in moves if one.global_id not in known_ends]
    if not unknown:
        checks.append(Check(name, CheckVerdict.PASS, "replicas report all of them"))
    elif order.force_offset is None:
        why = f"no replica reports that of {name_queues(unknown)}: give an offset to continue at"
        checks.append(Check(name, CheckVerdict.BLOCK, why))
    else:
        why = f"no replica reports that of {name_queues(unknown)}: the given one may be too low"
        checks.append(Check(name, CheckVerdict.WARN, why))
    return checks


def actions_of(
    begin: BeginMoves, in_flight_max: int, *, may_redirect: bool = False
) -> list[Action]:
    """Record the moves, carry out as many at a time as wanted, and spread the result.

    With `may_redirect` a queue goes elsewhere if its destination is lost before the queue is there.
    """
    cluster_name, topic_name = begin.cluster_name, begin.topic_name
    ids = [one.global_id for one in begin.moves]
    actions: list[Action] = [begin]
    for at in range(0, len(ids), in_flight_max):
        part = tuple(ids[at : at + in_flight_max])
        actions.append(PrepareQueues(cluster_name, topic_name, part, may_redirect))
        actions.append(SwitchQueues(cluster_name, topic_name, part, may_redirect))
    return [*actions, SpreadMapping(cluster_name, topic_name)]


def _impact(order: MoveQueues, begin: BeginMoves) -> tuple[str, ...]:
    if not begin.moves:
        return ()
    lines = [
        "Each queue takes no messages for some milliseconds while it moves",
        "Messages stay where they are: their broker groups serve them until they expire",
    ]
    if order.leaving is not None:
        lines.append("If a destination is lost, its queues move to another broker group")
    if order.force:
        lines.append("Messages that only the sources hold can't be read until these return")
    return tuple(lines)


def _undo(order: MoveQueues, begin: BeginMoves) -> str:
    if not begin.moves:
        return no_undo("an epoch only rises")
    if order.force:
        return no_undo("the sources can't be asked")
    return "Roll back as long as no queue has moved; move the queues back after the end"


def _loss(begin: BeginMoves) -> str:
    named = name_queues([one.global_id for one in begin.moves])
    return f"messages of {named} that no replica reports, if they are many or their disk is lost"


def _roll_back_facts(former: StoredChange) -> Facts[Present]:
    preconditions = (
        Precondition("change", str(former.id)),
        Precondition("state of the change", former.change.state),
    )
    return Facts(Present(None, None, None, former), preconditions)


def _roll_back_plan(order: MoveQueues, facts: Facts[Present], former: StoredChange) -> Plan:
    ids = [one.global_id for one in former.change.moves]
    action = RollBackMoves(order.cluster_name, order.topic_name, str(former.id))
    return Plan(
        summary=f"The sources keep {count_queues(len(ids))} of topic {order.topic_name}",
        risk=Risk.SERVICE,
        steps=planned_steps([action]),
        impact=("Queues that were sealed take messages again",),
        checks=facts.checks,
        way_back=no_undo("order the move again"),
        facts={"change_id": str(former.id)},
    )


KIND: Final = Kind(
    KIND_NAME,
    MoveQueues,
    read_facts,
    preview,
    (BeginMoves, PrepareQueues, SwitchQueues, SpreadMapping, RollBackMoves),
)
