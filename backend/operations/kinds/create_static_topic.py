"""Create a static topic, with its logical queues spread evenly over broker groups."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from backend.domain.errors import BrokerGroupNotFound
from backend.domain.logical_queue.change import QueueChange
from backend.domain.orders.static_topic import CreateStaticTopic
from backend.domain.plan import Difference, Plan, Precondition, Risk
from backend.operations.actions.queue_counts import BeginCreation
from backend.operations.actions.static_topics import SpreadMapping, count_queues
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, static_topics
from backend.services.logical_queue.copies import TopicHolders, ask_holders


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the answers of the masters, and the action that records the topic."""

    holders: TopicHolders
    begin: BeginCreation
    change: QueueChange


async def read_facts(order: CreateStaticTopic, context: OperationContext) -> Facts[Present]:
    """Read which broker groups answer, and whether the name is free.

    Raises:
        InvalidName: the name is invalid for a topic of a user. ClusterNotFound: the cluster does
        not exist. BrokerGroupNotFound: a named broker group does not exist. QueueChangeRefused: the
        name is in use, or a master does not answer.
    """
    masters.check_topic(order.topic_name)
    holders = await ask_holders(
        order.cluster_name,
        order.topic_name,
        database=context.database,
        brokers=context.brokers,
    )
    targets = chosen_targets(order.cluster_name, order.broker_groups, holders)
    begin = BeginCreation(
        order.cluster_name, order.topic_name, order.queue_count, targets, order.offset_mode
    )
    change = begin.plan(holders, context)
    facts = (Precondition("targets", ", ".join(targets)),)
    checks = (
        await static_topics.check_name(order.topic_name, context),
        static_topics.check_answers(holders, holders.groups.names),
        static_topics.check_cordons(holders.groups, targets),
    )
    return Facts(Present(holders, begin, change), facts, checks)


async def preview(
    order: CreateStaticTopic, facts: Facts[Present], context: OperationContext
) -> Plan:
    """Describe how many queues each broker group would lead."""
    begin, change = facts.seen.begin, facts.seen.change
    led = Counter(one.leader_name for one in change.after.queues)
    sets = await static_topics.check_sets(order.cluster_name, begin.targets, context)
    return Plan(
        summary=f"Static topic {order.topic_name} is created with"
        f" {count_queues(order.queue_count)} on {masters.count_groups(begin.targets)}",
        risk=Risk.SMALL,
        steps=planned_steps([begin, SpreadMapping(order.cluster_name, order.topic_name)]),
        changes=tuple(
            Difference(name, None, count_queues(led[name])) for name in sorted(begin.targets)
        ),
        impact=("Producers and consumers find it once all leaders have registered it",),
        checks=(*facts.checks, *sets),
        way_back="Delete it again, as long as it is empty",
        facts={
            "segments": static_topics.pictures(
                change.before, change.after, range(order.queue_count)
            )
        },
    )


def chosen_targets(
    cluster_name: str, chosen: tuple[str, ...], holders: TopicHolders
) -> tuple[str, ...]:
    """Return the named broker groups, or all of the cluster that are not cordoned.

    Raises:
        BrokerGroupNotFound: a named one does not exist.
    """
    for name in sorted(set(chosen) - holders.groups.names):
        raise BrokerGroupNotFound(cluster_name, name)
    return tuple(sorted(set(chosen) or holders.groups.open_names))


KIND: Final = Kind(
    "create_static_topic",
    CreateStaticTopic,
    read_facts,
    preview,
    (BeginCreation, SpreadMapping),
)
