"""Move the logical queues of all static topics off a broker group, or take such moves back."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from backend.db import logical_queues
from backend.domain.errors import BrokerGroupNotFound
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.placement import Relocation
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.orders.static_topic import EvacuateBrokerGroup, MoveQueues
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    PlannedStep,
    Precondition,
    Risk,
)
from backend.operations.actions.queue_moves import (
    BeginLeaving,
    PrepareQueues,
    RollBackMoves,
    SwitchQueues,
)
from backend.operations.actions.static_topics import SpreadMapping, count_queues
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext, OperationRequest
from backend.operations.engine.steps import planned_steps
from backend.operations.kinds.move_queues import actions_of
from backend.operations.planning import masters, queue_moves, static_topics
from backend.services.logical_queue.changes import check_no_change
from backend.services.logical_queue.copies import TopicHolders, ask_holders

KIND_NAME: Final = "evacuate_broker_group"


@dataclass(frozen=True, slots=True)
class TopicMoves:
    """Hold how the queues of one topic move, or the change of it that is rolled back."""

    topic_name: str
    begin: BeginLeaving | None
    rolls_back: RollBackMoves | None
    fact: Precondition

    @property
    def takers(self) -> Counter[str]:
        """Count the queues that each broker group takes."""
        return Counter(() if self.begin is None else [one.destination for one in self.begin.moves])

    @property
    def givers(self) -> Counter[str]:
        """Count the queues that each broker group gives."""
        return Counter(() if self.begin is None else [one.source for one in self.begin.moves])

    def steps(self, in_flight_max: int) -> tuple[PlannedStep, ...]:
        """Return the steps; each names the topic, since another topic has the same ones."""
        actions: list[Action] = [] if self.rolls_back is None else [self.rolls_back]
        if self.begin is not None:
            actions += actions_of(self.begin, in_flight_max, may_redirect=True)
        return tuple(
            replace(
                one,
                name=f"{self.topic_name}/{one.name}",
                title=f"Topic {self.topic_name}: {one.title[0].lower()}{one.title[1:]}",
            )
            for one in planned_steps(actions)
        )


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the answers of the masters, and the moves of each topic."""

    holders: TopicHolders
    topics: tuple[TopicMoves, ...]

    @property
    def takers(self) -> Counter[str]:
        """Count the queues that each broker group takes."""
        return sum((one.takers for one in self.topics), Counter())

    @property
    def moved_count(self) -> int:
        """Count the queues that move."""
        return self.takers.total()


@dataclass(frozen=True, slots=True)
class Part:
    """Hold what moves of logical queues add to the plan of an operation."""

    steps: tuple[PlannedStep, ...] = ()
    changes: tuple[Difference, ...] = ()
    impact: tuple[str, ...] = ()


async def read_facts(
    order: EvacuateBrokerGroup,
    context: OperationContext,
    *,
    undo: OperationRequest | None = None,
) -> Facts[Present]:
    """Read which queues the broker group leads, and which broker groups may take them.

    `undo` is the order that takes the moves back, in place of this kind.

    Raises:
        InvalidParameters: the id of what is taken back is none. InvalidName: a name is invalid.
        ClusterNotFound: the cluster does not exist. BrokerGroupNotFound: the broker group does not
        exist, and leads no queue. QueueMappingBroken: a mapping breaks invariants.
        QueueChangeRefused: a change of a topic is not finished, the rules forbid the moves, or no
        broker group may take them.
    """
    cluster_name = check_cluster_name(order.cluster_name)
    group_name = check_broker_group_name(order.broker_group_name)
    holders = await ask_holders(
        cluster_name, None, database=context.database, brokers=context.brokers
    )
    wanted = undo or OperationRequest(
        KIND_NAME, {"cluster_name": cluster_name, "broker_group_name": group_name}
    )
    if order.takes_back is None:
        topics = await _leave(order, holders, wanted, context)
        if not topics and group_name not in holders.groups.names:
            raise BrokerGroupNotFound(cluster_name, group_name)
    else:
        topics = await _return(order, order.takes_back, wanted, context)
    named = {name for one in topics for name in (*one.takers, *one.givers)}
    return Facts(
        Present(holders, topics),
        tuple(one.fact for one in topics),
        (static_topics.check_answers(holders, named),) if named else (),
    )


async def preview(
    order: EvacuateBrokerGroup, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Describe which broker groups take the queues of each topic."""
    present, part = facts.seen, part_of(order, facts.seen)
    return Plan(
        summary=_summary(order, present),
        risk=Risk.SERVICE,
        steps=part.steps,
        changes=part.changes,
        impact=part.impact,
        checks=(
            _check_something_moves(order, present),
            *facts.checks,
            *await check_takers(order.cluster_name, present, context),
        ),
        way_back="Take the moves of all topics back, also after the end",
        facts={"topics": [one.topic_name for one in present.topics]},
    )


def part_of(order: EvacuateBrokerGroup, present: Present | None) -> Part:
    """Return what the moves add to a plan: the steps of one topic after another."""
    if present is None or not present.topics:
        return Part()
    steps = tuple(step for one in present.topics for step in one.steps(order.in_flight_max))
    changes = tuple(
        Difference(f"topic {one.topic_name}", _counts_text(one.givers), _counts_text(one.takers))
        for one in present.topics
        if one.takers
    )
    impact = (
        "Each logical queue takes no messages for some milliseconds while it moves",
        "Messages stay where they are: their broker groups serve them until they expire",
        "If a destination is lost, its queues move to another broker group",
    )
    return Part(steps, changes, impact)


async def check_takers(
    cluster_name: str, present: Present, context: OperationContext
) -> tuple[Check, ...]:
    """Check the sets and the room of the broker groups that take queues."""
    takers = sorted(present.takers)
    return (
        *await static_topics.check_sets(cluster_name, takers, context),
        *[await static_topics.check_room(present.holders, one, context) for one in takers],
    )


async def _leave(
    order: EvacuateBrokerGroup,
    holders: TopicHolders,
    undo: OperationRequest,
    context: OperationContext,
) -> tuple[TopicMoves, ...]:
    """Choose where the queues of each topic go."""
    async with context.database.connect() as connection:
        led = await logical_queues.count_led_by(
            connection, order.cluster_name, order.broker_group_name
        )
        stored = [await logical_queues.get(connection, order.cluster_name, one) for one in led]
    topics = []
    for one in stored:
        check_no_change(one)
        wish = MoveQueues(
            order.cluster_name, one.mapping.topic_name, leaving=order.broker_group_name
        )
        moves = queue_moves.choose_moves(
            wish, one.mapping, holders.groups, now_ms=context.clock.now_ms()
        )
        topics.append(_moves_of(order, one.mapping, moves, undo))
    return tuple(topics)


async def _return(
    order: EvacuateBrokerGroup, takes_back: str, undo: OperationRequest, context: OperationContext
) -> tuple[TopicMoves, ...]:
    """Move the queues of each topic back, or roll back the change that is not committed."""
    change_id = queue_moves.read_change_id(KIND_NAME, takes_back)
    async with context.database.connect() as connection:
        names = await logical_queues.list_changed_by(connection, change_id)
    topics = []
    for name in names:
        former = await queue_moves.find_former(change_id, name, context)
        async with context.database.connect() as connection:
            stored = await logical_queues.find(connection, order.cluster_name, name)
        if former is None or stored is None:
            continue
        if former.ended_at is None:
            action = RollBackMoves(order.cluster_name, name, str(change_id))
            fact = Precondition(f"change of topic {name}", former.change.state)
            topics.append(TopicMoves(name, None, action, fact))
        elif former.change.is_moved:
            check_no_change(stored)
            moves = queue_moves.moves_back(stored.mapping, former)
            topics.append(_moves_of(order, stored.mapping, moves, undo))
    return tuple(topics)


def _moves_of(
    order: EvacuateBrokerGroup,
    mapping: TopicMapping,
    moves: tuple[Relocation, ...],
    undo: OperationRequest,
) -> TopicMoves:
    name = mapping.topic_name
    text = f"epoch {mapping.epoch}, queues {queue_moves.moves_text(moves)}"
    begin = BeginLeaving(
        order.cluster_name,
        name,
        moves,
        mapping.epoch,
        forced_ends={},
        forced_starts={},
        undo_kind=undo.kind,
        undo_parameters=undo.parameters,
    )
    fact = Precondition(f"mapping of topic {name}", text)
    return TopicMoves(name, begin if moves else None, None, fact)


def _summary(order: EvacuateBrokerGroup, present: Present) -> str:
    count = f"{count_queues(present.moved_count)} of {_count_topics(present)}"
    if order.takes_back is not None:
        return f"Moved logical queues come back: {count}"
    return f"From broker group {order.broker_group_name} move {count}"


def _count_topics(present: Present) -> str:
    count = len(present.topics)
    return f"{count} static topic{'' if count == 1 else 's'}"


def _counts_text(counts: Mapping[str, int]) -> str:
    return masters.shortened(f"{counts[name]} on {name}" for name in sorted(counts))


def _check_something_moves(order: EvacuateBrokerGroup, present: Present) -> Check:
    name = "something moves"
    if any(one.steps(order.in_flight_max) for one in present.topics):
        return Check(name, CheckVerdict.PASS, count_queues(present.moved_count))
    why = f"{order.broker_group_name} leads no logical queue"
    if order.takes_back is not None:
        why = "the queues are where they were before"
    return Check(name, CheckVerdict.BLOCK, why)


KIND: Final = Kind(
    KIND_NAME,
    EvacuateBrokerGroup,
    read_facts,
    preview,
    (BeginLeaving, PrepareQueues, SwitchQueues, SpreadMapping, RollBackMoves),
)
