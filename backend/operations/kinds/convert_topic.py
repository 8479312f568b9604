"""Make an ordinary topic static: each of its queues becomes a logical queue where it is."""

from dataclasses import dataclass
from typing import Final

from backend.domain.logical_queue.change import QueueChange
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.orders.static_topic import ConvertTopic
from backend.domain.plan import Check, CheckVerdict, Plan, Precondition, Risk, no_undo
from backend.domain.topic_layout import MessageType
from backend.operations.actions.queue_counts import BeginConversion, counts_of
from backend.operations.actions.static_topics import SpreadMapping, count_queues
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, static_topics
from backend.rules.attributes import MESSAGE_TYPE
from backend.services.logical_queue.copies import TopicHolders, ask_holders


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the answers of the masters, and the action that records the topic as static."""

    holders: TopicHolders
    begin: BeginConversion
    change: QueueChange


async def read_facts(order: ConvertTopic, context: OperationContext) -> Facts[Present]:
    """Read the queues of the topic on each broker group.

    Raises:
        InvalidName: the name is invalid for a topic of a user. ClusterNotFound: the cluster does
        not exist. QueueChangeRefused: no broker group has the topic, it is static already, its
        numbers of read and write queues differ, or a master does not answer.
    """
    masters.check_topic(order.topic_name)
    holders = await ask_holders(
        order.cluster_name, order.topic_name, database=context.database, brokers=context.brokers
    )
    if holders.copies:
        raise QueueChangeRefused(order.topic_name, "the topic is static already")
    if not holders.known_at:
        raise QueueChangeRefused(order.topic_name, "no broker group has an ordinary topic of it")
    counts = counts_of(holders)
    begin = BeginConversion(
        order.cluster_name,
        order.topic_name,
        sum(one.write_count for one in counts.values()),
        holders.known_at,
        counts,
        order.offset_mode,
    )
    texts = [f"{name}: {one.write_count}" for name, one in sorted(counts.items())]
    return Facts(
        Present(holders, begin, begin.plan(holders, context)),
        (Precondition("queues of the topic", ", ".join(texts)),),
        (
            static_topics.check_answers(holders, holders.groups.names),
            await static_topics.check_name(order.topic_name, context, besides=order.cluster_name),
            _check_messages(holders),
            _check_share_mode(holders),
            _check_replication(holders),
        ),
    )


async def preview(order: ConvertTopic, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe which logical queues the topic gets."""
    begin, change = facts.seen.begin, facts.seen.change
    sets = await static_topics.check_sets(order.cluster_name, begin.targets, context)
    return Plan(
        summary=f"Topic {order.topic_name} becomes static, with"
        f" {count_queues(begin.queue_count)} on {masters.count_groups(begin.targets)}",
        risk=Risk.SERVICE,
        steps=planned_steps([begin, SpreadMapping(order.cluster_name, order.topic_name)]),
        changes=static_topics.differences(change.before, change.after),
        impact=(
            "Messages stay, and consumer groups keep their positions",
            "Clients get refusals until their next route update, within 30 s",
            "Delayed and transactional messages are refused from then on",
            "Clients before version 5 do not see the topic any more",
        ),
        checks=(*facts.checks, *sets),
        way_back=no_undo("a static topic becomes ordinary only by its deletion"),
        facts={
            "segments": static_topics.pictures(
                change.before, change.after, range(begin.queue_count)
            )
        },
    )


def _check_share_mode(holders: TopicHolders) -> Check:
    """Check that only the masters own the share queues of the topic."""
    name = "owners of its share queues"
    layouts = [one.layout.layout for one in holders.masters.values() if one.layout is not None]
    if any(one.is_shared for one in layouts):
        why = "share.mode is SHARED, which static topics can't have: set it to PRIMARY first"
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, "the masters own them")


def _check_replication(holders: TopicHolders) -> Check:
    """Check that replicas have the messages of the topic, as those of each static topic."""
    name = "replication of its messages"
    layouts = [one.layout.layout for one in holders.masters.values() if one.layout is not None]
    if not all(one.is_replicated for one in layouts):
        why = (
            "it is not replicated, which a static topic always is: create a static topic of another"
            " name, then move its producers and consumers there"
        )
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, "replicas copy them")


def _check_messages(holders: TopicHolders) -> Check:
    """Check whether the topic is for messages that a static topic refuses."""
    name = "type of its messages"
    layouts = [one.layout.layout for one in holders.masters.values() if one.layout is not None]
    types = {one.attributes.get(MESSAGE_TYPE, MessageType.UNSPECIFIED) for one in layouts}
    if refused := sorted(types & {MessageType.DELAY, MessageType.TRANSACTION}):
        why = f"static topics refuse messages of type {refused[0]}"
        return Check(name, CheckVerdict.BLOCK, why)
    if MessageType.MIXED in types:
        why = "delayed and transactional messages among them would be refused"
        return Check(name, CheckVerdict.WARN, why)
    if MessageType.PRIORITY in types:
        why = "in a static topic, the priority of a message does not choose its queue"
        return Check(name, CheckVerdict.WARN, why)
    return Check(name, CheckVerdict.PASS, "static topics take them")


KIND: Final = Kind(
    "convert_topic",
    ConvertTopic,
    read_facts,
    preview,
    (BeginConversion, SpreadMapping),
)
