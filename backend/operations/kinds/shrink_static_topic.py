"""Take the last logical queues from a static topic: they are sealed, and removed once read."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.requests.clients import GetProducers
from backend.db.logical_queues import StoredChange
from backend.domain.orders.static_topic import ShrinkStaticTopic
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk, no_undo
from backend.operations.actions.queue_counts import (
    AwaitQueuesRead,
    BeginExpansion,
    BeginShrink,
    RemoveQueues,
    SealQueues,
)
from backend.operations.actions.queue_moves import RollBackMoves
from backend.operations.actions.static_topics import SpreadMapping, count_queues, name_queues
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, queue_moves, static_topics

KIND_NAME: Final = "shrink_static_topic"
INNER_PRODUCERS: Final = "CLIENT_INNER_PRODUCER"
"""The producer group of every client of RocketMQ, which consumers send messages back with."""


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the topic, and the queues that end, or how an earlier order is taken back."""

    topic: static_topics.Present | None
    ids: tuple[int, ...]
    actions: tuple[Action, ...]
    leaders: tuple[str, ...] = ()
    rolls_back: StoredChange | None = None


async def read_facts(order: ShrinkStaticTopic, context: OperationContext) -> Facts[Present]:
    """Read the mapping, and whether the leaders of the last queues answer.

    Raises:
        InvalidParameters: the id of the change that is taken back is none. InvalidName: the name is
        invalid for a topic of a user. ClusterNotFound: the cluster does not exist.
        StaticTopicNotFound: there is no such topic. QueueMappingBroken: its mapping breaks
        invariants. QueueChangeRefused: a change is not finished, the count is not smaller, or a
        master does not answer.
    """
    former = await queue_moves.find_taken_back(order, context)
    if former is not None and former.ended_at is None:
        action = RollBackMoves(order.cluster_name, order.topic_name, str(former.id))
        facts = (Precondition("state of the change", former.change.state),)
        return Facts(Present(None, (), (action,), rolls_back=former), facts)
    topic = await static_topics.read_present(order.cluster_name, order.topic_name, context)
    if former is not None:
        return _return(order, topic, context)
    return _shrink(order, topic, context)


async def preview(
    order: ShrinkStaticTopic, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Describe which queues end, and who is affected."""
    present = facts.seen
    if present.topic is None or order.takes_back is not None:
        return _plan_back(order, facts)
    mapping = present.topic.mapping
    return Plan(
        summary=f"Static topic {order.topic_name} keeps {count_queues(order.queue_count)} of"
        f" {mapping.writable_count}",
        risk=Risk.SERVICE,
        steps=planned_steps(present.actions),
        changes=(Difference("logical queues", str(mapping.queue_count), str(order.queue_count)),),
        impact=(
            f"Sends to {name_queues(present.ids)} are refused, and consumers still read them",
            "The operation waits until consumer groups have read these queues to the end",
            "Then clients see fewer queues, and consumer groups rebalance once",
            "A hash of a key over the number of queues gives other queues",
        ),
        checks=(
            *facts.checks,
            await _check_producers(order, present, context),
            *await static_topics.check_sets(order.cluster_name, present.leaders, context),
        ),
        way_back="The queues take messages again at increasing offsets, also after their removal",
        facts={"queues": list(present.ids)},
    )


def _shrink(
    order: ShrinkStaticTopic, topic: static_topics.Present, context: OperationContext
) -> Facts[Present]:
    """Plan the end of the last queues; those that were sealed before are removed with them."""
    mapping = topic.mapping
    names = order.cluster_name, order.topic_name
    begin = BeginShrink(*names, order.queue_count, mapping.writable_count, mapping.epoch)
    change = begin.plan(mapping, topic.holders, context)
    ending = tuple(one.global_id for one in change.moves)
    ids = tuple(sorted({*ending, *mapping.sealed_ids}))
    actions = (
        begin,
        SealQueues(*names, ending),
        SpreadMapping(*names),
        AwaitQueuesRead(*names, ids, order.waived_groups),
        RemoveQueues(*names, ids),
    )
    leaders = tuple(sorted({one.relocation.source for one in change.moves}))
    checks = (static_topics.check_answers(topic.holders, leaders),)
    return Facts(Present(topic, ids, actions, leaders), topic.preconditions, checks)


def _return(
    order: ShrinkStaticTopic, topic: static_topics.Present, context: OperationContext
) -> Facts[Present]:
    """Plan that the queues take messages again, or are created at increasing offsets."""
    names = order.cluster_name, order.topic_name
    begin = BeginExpansion(*names, order.queue_count, (), topic.mapping.epoch)
    change = begin.plan(topic.mapping, topic.holders, topic.bounds, context)
    ids = tuple(one.global_id for one in change.changed_queues)
    checks = (static_topics.check_answers(topic.holders, topic.holders.groups.names),)
    actions = (begin, SpreadMapping(*names))
    return Facts(Present(topic, ids, actions), topic.preconditions, checks)


async def _check_producers(
    order: ShrinkStaticTopic, present: Present, context: OperationContext
) -> Check:
    """Check whether producers are connected: they do not know which queues refuse messages."""
    name = "producers"
    assert present.topic is not None
    addresses = present.topic.holders.addresses
    groups: set[str] = set()
    for leader in present.leaders:
        asked = GetProducers(now_ms=context.clock.now_ms())
        found = await context.brokers.find(addresses[leader], asked)
        if found is None:
            why = f"broker group {leader} does not report its producers"
            return Check(name, CheckVerdict.WARN, why)
        groups |= {group for one in found for group in one.producer_groups}
    groups -= {INNER_PRODUCERS}
    if not groups:
        return Check(name, CheckVerdict.PASS, "none is connected to the leaders of the queues")
    why = f"connected to the leaders of the queues: {masters.shortened(sorted(groups))}"
    if order.force:
        return Check(name, CheckVerdict.WARN, why)
    return Check(name, CheckVerdict.BLOCK, f"{why}; give force, and some of their sends may fail")


def _plan_back(order: ShrinkStaticTopic, facts: Facts[Present]) -> Plan:
    present = facts.seen
    summary = f"Static topic {order.topic_name} keeps all its logical queues"
    if present.topic is not None:
        summary = f"Static topic {order.topic_name} has {count_queues(order.queue_count)} again"
    return Plan(
        summary=summary,
        risk=Risk.SERVICE,
        steps=planned_steps(present.actions),
        impact=("Queues that were sealed take messages again",),
        checks=facts.checks,
        way_back=no_undo("order a smaller count again"),
        facts={"queues": list(present.ids)},
    )


KIND: Final = Kind(
    KIND_NAME,
    ShrinkStaticTopic,
    read_facts,
    preview,
    (
        BeginShrink,
        SealQueues,
        SpreadMapping,
        AwaitQueuesRead,
        RemoveQueues,
        BeginExpansion,
        RollBackMoves,
    ),
)
