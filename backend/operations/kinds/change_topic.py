"""Change a topic on masters, one after another; an undo sets the former values."""

from dataclasses import dataclass
from typing import Final

from backend.domain.errors import TopicNotFound
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.topic import ChangeTopic
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.domain.topic import Permission
from backend.domain.topic_layout import TopicLayout, TopicWish
from backend.operations.actions.topics import PutTopic
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import masters, static_topics, topic_layouts
from backend.operations.planning.replication import check_replication
from backend.operations.planning.share_modes import check_share_mode
from backend.operations.planning.topic_layouts import Layouts, Places, TopicPlacements
from backend.services.topic.topics import find_topic_version


@dataclass(frozen=True, slots=True)
class Change:
    """Hold each master's layout of the topic, and the new layouts of those that change."""

    placements: TopicPlacements
    changed: Places


async def read_facts(order: ChangeTopic, context: OperationContext) -> Facts[Change]:
    """Read each master's layout of the topic.

    Raises:
        InvalidParameters: no change is given, or two that exclude each other.
        InvalidName: the name is invalid for a cluster, or for a topic of a user.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
        TopicNotFound: no master that was asked has the topic.
    """
    topic = masters.check_topic(order.topic_name)
    exact = _exact(order)
    chosen = tuple(exact) or order.broker_groups
    found = await topic_layouts.read_layouts(order.cluster_name, topic, chosen, context)
    found.check_known(TopicNotFound(order.cluster_name, topic))
    held = found.held
    wished = {
        one: exact[one.broker_group_name] if exact else order.wish.of(layout)
        for one, layout in held.items()
    }
    changed = [(one, after) for one, after in sorted(wished.items()) if after != held[one]]
    checks = (
        *await static_topics.check_ordinary(order.cluster_name, topic, context),
        found.masters_check,
        found.answers_check,
        found.effect_check(changed, "every master has these values already"),
    )
    return Facts(Change(found, changed), found.preconditions, checks)


async def preview(order: ChangeTopic, facts: Facts[Change], context: OperationContext) -> Plan:
    """Describe the change on each master that has the topic."""
    topic, held, changed = order.topic_name, facts.seen.placements.held, facts.seen.changed
    return Plan(
        summary=f"Topic {topic} changes on {len(changed)} of {masters.count_groups(held)}",
        risk=_risk(held, changed),
        steps=planned_steps(
            topic_layouts.put_actions(order.cluster_name, topic, changed, is_new=False)
        ),
        changes=tuple(topic_layouts.difference(one, held[one], after) for one, after in changed),
        impact=_impact(held, changed),
        checks=(
            *facts.checks,
            *(await _check_left(topic, held, changed, context)),
            *await check_share_mode(order.cluster_name, changed, context),
            *_check_replication(held, changed),
            await masters.check_fencing(facts.seen.placements.meant.found, context),
        ),
        way_back="Change it back to the former values, which the journal keeps",
        facts=topic_layouts.put_facts(changed),
    )


async def version(order: ChangeTopic, context: OperationContext) -> str:
    """Read the version of the topic's layout."""
    return await find_topic_version(order.cluster_name, order.topic_name, database=context.database)


KIND: Final = Kind("change_topic", ChangeTopic, read_facts, preview, (PutTopic,), version)


def _exact(order: ChangeTopic) -> dict[str, TopicLayout]:
    exact = {one.broker_group_name: one.layout for one in order.layouts}
    if bool(exact) is not order.wish.is_empty:
        what = (
            "give at least one value to change"
            if order.wish.is_empty
            else "layouts exclude other parameters"
        )
        raise InvalidParameters("change_topic", what)
    if exact and order.broker_groups:
        raise InvalidParameters("change_topic", "layouts already name their broker groups")
    return exact


def _risk(held: Layouts, changed: Places) -> Risk:
    is_growth = all(
        TopicWish(after.read_queue_count, after.write_queue_count).of(held[one]) == after
        and after.read_queue_count >= held[one].read_queue_count
        and after.write_queue_count >= held[one].write_queue_count
        for one, after in changed
    )
    return Risk.SMALL if is_growth else Risk.SERVICE


def _impact(held: Layouts, changed: Places) -> tuple[str, ...]:
    lines = ["Clients use the new layout after their next route update, within 30 s"]
    if any(after.read_queue_count != held[one].read_queue_count for one, after in changed):
        lines.append("Consumer groups rebalance; ordered groups wait for their locks")
    if any(after.is_shared != held[one].is_shared for one, after in changed):
        lines.append(
            "POP consumers go on at another owner: messages in flight may be delivered again"
        )
    if any(after.write_queue_count != held[one].write_queue_count for one, after in changed):
        lines.append(
            "Producers that choose queues by key choose other queues: keys move between queues"
        )
    return tuple(lines)


def _check_replication(held: Layouts, changed: Places) -> list[Check]:
    """Check that messages do not change their log, and what a topic that is not replicated has."""
    if any(after.is_replicated != held[one].is_replicated for one, after in changed):
        why = "whether a topic is replicated is set at its creation: create another topic"
        return [Check("replication of its messages", CheckVerdict.BLOCK, why)]
    return check_replication(changed)


def _readable_count(layout: TopicLayout) -> int:
    """Count the queues that consumers read."""
    return layout.read_queue_count if layout.permissions & Permission.READ else 0


async def _check_left(
    topic: str, held: Layouts, changed: Places, context: OperationContext
) -> list[Check]:
    """Look for messages in queues that consumers would no longer read."""
    fewer = {
        one: _readable_count(after)
        for one, after in changed
        if _readable_count(after) < _readable_count(held[one])
    }
    if not fewer:
        return []
    name = "no message stays unread in a removed queue"
    ends = await topic_layouts.read_ends([*fewer], topic, context)
    for one, error in ends.silent.items():
        why = f"{one.broker_group_name} does not report what is in its queues: {error.reason}"
        return [Check(name, CheckVerdict.WARN, why)]
    count = sum(
        e.count
        for one, end in ends.answers.items()
        for queue_id, e in end.items()
        if queue_id >= fewer[one]
    )
    if not count:
        return [Check(name, CheckVerdict.PASS, "the queues that are given up are empty")]
    why = f"{count} messages stand in queues that consumers would read no more, until it is undone"
    return [Check(name, CheckVerdict.WARN, why)]
