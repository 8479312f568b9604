"""Change how masters hold a topic, one after another; taken back by the former values."""

from collections.abc import Mapping, Sequence
from typing import Final

from backend.domain.errors import TopicNotFound
from backend.domain.operation import Operation
from backend.domain.operation_errors import InvalidParameters, NotUndoable
from backend.domain.orders.topic import ChangeTopic, PlacedLayout
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.domain.topic import Permission
from backend.domain.topic_layout import TopicLayout, TopicWish
from backend.services.operations import masters, topic_layouts
from backend.services.operations.kind import Kind, OperationContext, StepWork
from backend.services.operations.masters import Master, Silence
from backend.services.topics import find_topic_version


async def plan(order: ChangeTopic, context: OperationContext) -> Plan:
    """Say what becomes of the topic on each master that holds it.

    Raises:
        InvalidParameters: nothing is wished for, or two things at once.
        InvalidName: no cluster, or no topic of a user, may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
        TopicNotFound: no master asked holds it.
    """
    topic = masters.check_topic(order.topic_name)
    exact = _exact(order)
    chosen = tuple(exact) or order.broker_groups
    meant = await masters.find_masters(order.cluster_name, chosen, context)
    layouts = await topic_layouts.read_layouts(meant.found, topic, context)
    held = {one: layout for one, layout in layouts.items() if isinstance(layout, TopicLayout)}
    if not held and not any(isinstance(one, Silence) for one in layouts.values()):
        raise TopicNotFound(order.cluster_name, topic)
    wished = {
        one: exact[one.group_name] if exact else order.wish.of(layout)
        for one, layout in held.items()
    }
    changed = [(one, after) for one, after in sorted(wished.items()) if after != held[one]]
    return Plan(
        summary=f"Topic {topic} changes on {len(changed)} of {masters.count_groups(held)}",
        risk=_risk(held, changed),
        steps=tuple(
            PlannedStep(f"change-{one.group_name}", f"Change it on {one.group_name}")
            for one, _ in changed
        ),
        preconditions=(meant.precondition, *topic_layouts.preconditions(layouts)),
        changes=tuple(topic_layouts.difference(one, held[one], after) for one, after in changed),
        impact=_impact(held, changed),
        checks=(
            meant.check(CheckVerdict.BLOCK if chosen else CheckVerdict.WARN),
            masters.check_answers(layouts),
            _check_effect(changed),
            *(await _check_left(topic, held, changed, context)),
            await masters.check_fencing(meant.found, context),
        ),
        way_back="Change it back to the former values, which the journal keeps",
        facts=topic_layouts.put_facts(changed),
    )


def steps(
    order: ChangeTopic, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Change it on one master after another."""
    return topic_layouts.put_works(order.topic_name, operation, context)


async def verify(
    order: ChangeTopic, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back how each master holds it."""
    return await topic_layouts.read_back(order.topic_name, operation, context)


def undo(order: ChangeTopic, operation: Operation) -> ChangeTopic:
    """Give each group that was changed its former layout.

    Raises:
        NotUndoable: none was changed.
    """
    former = [
        PlacedLayout(group_name, layout)
        for group_name, layout in (
            topic_layouts.former_of(step, operation) for step in masters.done_steps(operation)
        )
        if layout is not None
    ]
    if not former:
        raise NotUndoable("no broker was changed")
    return ChangeTopic(order.cluster_name, order.topic_name, layouts=tuple(former))


async def version(order: ChangeTopic, context: OperationContext) -> str:
    """Read the version of how the topic is laid out."""
    return await find_topic_version(order.cluster_name, order.topic_name, database=context.database)


KIND: Final = Kind("change_topic", ChangeTopic, plan, steps, verify, undo, version)

_Held = Mapping[Master, TopicLayout]
_Changed = Sequence[tuple[Master, TopicLayout]]


def _exact(order: ChangeTopic) -> dict[str, TopicLayout]:
    exact = {one.group_name: one.layout for one in order.layouts}
    if bool(exact) is not order.wish.is_empty:
        what = "give something to change" if order.wish.is_empty else "layouts stand alone"
        raise InvalidParameters("change_topic", what)
    if exact and order.broker_groups:
        raise InvalidParameters("change_topic", "layouts name their broker groups themselves")
    return exact


def _risk(held: _Held, changed: _Changed) -> Risk:
    is_growth = all(
        TopicWish(after.read_queue_count, after.write_queue_count).of(held[one]) == after
        and after.read_queue_count >= held[one].read_queue_count
        and after.write_queue_count >= held[one].write_queue_count
        for one, after in changed
    )
    return Risk.SMALL if is_growth else Risk.SERVICE


def _impact(held: _Held, changed: _Changed) -> tuple[str, ...]:
    told = ["Clients take the new layout over with their next look at the route, within 30 s"]
    if any(after.read_queue_count != held[one].read_queue_count for one, after in changed):
        told.append("Consumer groups share the queues out anew; ordered ones wait for their locks")
    if any(after.write_queue_count != held[one].write_queue_count for one, after in changed):
        told.append("Producers that choose queues by key choose others: keys move between queues")
    return tuple(told)


def _check_effect(changed: _Changed) -> Check:
    name = "something changes"
    if changed:
        return Check(name, CheckVerdict.PASS, f"on {masters.count_groups(changed)}")
    return Check(name, CheckVerdict.BLOCK, "every master holds it so already")


def _readable_count(layout: TopicLayout) -> int:
    """Count the queues that consumers read."""
    return layout.read_queue_count if layout.permissions & Permission.READ else 0


async def _check_left(
    topic: str, held: _Held, changed: _Changed, context: OperationContext
) -> list[Check]:
    """Look for messages in queues that nobody would read any more."""
    fewer = {
        one: _readable_count(after)
        for one, after in changed
        if _readable_count(after) < _readable_count(held[one])
    }
    if not fewer:
        return []
    name = "no message is left where nobody reads"
    ends = await topic_layouts.read_ends([*fewer], topic, context)
    count = 0
    for one, told in ends.items():
        if isinstance(told, Silence):
            why = f"{one.group_name} does not tell what is in its queues: {told.reason}"
            return [Check(name, CheckVerdict.WARN, why)]
        count += sum(e.count for queue_id, e in told.items() if queue_id >= fewer[one])
    if not count:
        return [Check(name, CheckVerdict.PASS, "the queues that are given up are empty")]
    why = f"{count} messages stand in queues that consumers would read no more, until it is undone"
    return [Check(name, CheckVerdict.WARN, why)]
