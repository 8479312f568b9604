"""Give a static topic more logical queues; the existing ones stay where they are."""

from dataclasses import dataclass
from typing import Final

from backend.domain.logical_queue.change import QueueChange
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.orders.static_topic import ExpandStaticTopic
from backend.domain.plan import Plan, Precondition, Risk, no_undo
from backend.operations.actions.queue_counts import BeginExpansion
from backend.operations.actions.static_topics import SpreadMapping, count_queues
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.kinds.create_static_topic import chosen_targets
from backend.operations.planning import static_topics


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the topic, and the action that records its new queues."""

    topic: static_topics.Present
    begin: BeginExpansion
    change: QueueChange


async def read_facts(order: ExpandStaticTopic, context: OperationContext) -> Facts[Present]:
    """Read the mapping, and whether all masters answer.

    Raises:
        InvalidName: the name is invalid for a topic of a user. ClusterNotFound: the cluster does
        not exist. BrokerGroupNotFound: a named broker group does not exist. StaticTopicNotFound:
        there is no such topic. QueueMappingBroken: its mapping breaks invariants.
        QueueChangeRefused: a change is not finished, the count does not grow, or a master does not
        answer.
    """
    topic = await static_topics.read_present(order.cluster_name, order.topic_name, context)
    targets: tuple[str, ...] = ()
    if order.broker_groups:
        targets = chosen_targets(order.cluster_name, order.broker_groups, topic.holders)
    begin = BeginExpansion(
        order.cluster_name, order.topic_name, order.queue_count, targets, topic.mapping.epoch
    )
    change = begin.plan(topic.mapping, topic.holders, topic.bounds, context)
    takers = _takers_of(topic.mapping, change)
    checks = (
        static_topics.check_answers(topic.holders, topic.holders.groups.names),
        static_topics.check_cordons(topic.holders.groups, takers),
    )
    fact = Precondition("broker groups that get queues", ", ".join(sorted(takers)))
    return Facts(Present(topic, begin, change), (*topic.preconditions, fact), checks)


async def preview(
    order: ExpandStaticTopic, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Describe where the new queues would be."""
    topic, begin, change = facts.seen.topic, facts.seen.begin, facts.seen.change
    before, after = topic.mapping, change.after
    new_ids = [one.global_id for one in after.queues if before.queue(one.global_id) != one]
    leaders = _takers_of(before, change)
    return Plan(
        summary=f"Static topic {order.topic_name} gets {order.queue_count} logical queues in"
        f" place of {before.queue_count}",
        risk=Risk.SERVICE,
        steps=planned_steps([begin, SpreadMapping(order.cluster_name, order.topic_name)]),
        changes=static_topics.differences(before, after),
        impact=(
            f"Clients see {count_queues(order.queue_count)} after their next route update",
            "Consumer groups rebalance once",
            "A hash of a key over the number of queues gives other queues",
        ),
        checks=(
            *facts.checks,
            *await static_topics.check_sets(order.cluster_name, leaders, context),
        ),
        way_back=no_undo("the new queues may hold messages"),
        facts={"segments": static_topics.pictures(before, after, new_ids)},
    )


def _takers_of(before: TopicMapping, change: QueueChange) -> set[str]:
    """Return the broker groups that lead a queue which is new, or takes messages again."""
    changed = [one for one in change.after.queues if before.queue(one.global_id) != one]
    return {one.leader_name for one in changed if one.leader_name is not None}


KIND: Final = Kind(
    "expand_static_topic",
    ExpandStaticTopic,
    read_facts,
    preview,
    (BeginExpansion, SpreadMapping),
)
