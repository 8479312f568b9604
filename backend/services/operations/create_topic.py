"""Create a topic on masters, one after another; taken back by deleting it while it is empty."""

from collections.abc import Sequence
from typing import Final

from backend.domain.operation import Operation
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.topic import CreateTopic, DeleteTopic
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.operations import masters, topic_layouts
from backend.services.operations.kind import Kind, OperationContext, StepWork
from backend.services.operations.masters import Silence


async def plan(order: CreateTopic, context: OperationContext) -> Plan:
    """Say where the topic would be created, and whether it is there already.

    Raises:
        InvalidName: no cluster, or no topic of a user, may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
    """
    topic = masters.check_topic(order.topic_name)
    meant = await masters.find_masters(order.cluster_name, order.broker_groups, context)
    layouts = await topic_layouts.read_layouts(meant.found, topic, context)
    layout = order.layout
    is_chosen = bool(order.broker_groups)
    return Plan(
        summary=f"Topic {topic} is created on {masters.count_groups(meant.found)}",
        risk=Risk.SMALL,
        steps=tuple(
            PlannedStep(f"create-{one.group_name}", f"Create it on {one.group_name}")
            for one in meant.found
        ),
        preconditions=(meant.precondition, *topic_layouts.preconditions(layouts)),
        changes=tuple(topic_layouts.difference(one, None, layout) for one in meant.found),
        impact=("Producers and consumers find it with their next look for its route",),
        checks=(
            meant.check(CheckVerdict.BLOCK if is_chosen else CheckVerdict.WARN),
            masters.check_answers(layouts),
            _check_absent(layouts),
            await masters.check_fencing(meant.found, context),
        ),
        way_back="Delete it again, for as long as it is empty",
        facts=topic_layouts.put_facts([(one, layout) for one in meant.found]),
    )


def steps(
    order: CreateTopic, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Create it on one master after another."""
    return topic_layouts.put_works(order.topic_name, operation, context)


async def verify(
    order: CreateTopic, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back how each master holds it."""
    return await topic_layouts.read_back(order.topic_name, operation, context)


def undo(order: CreateTopic, operation: Operation) -> DeleteTopic:
    """Delete it where it was created, while it is empty.

    Raises:
        NotUndoable: it was created nowhere.
    """
    made = [
        group_name
        for group_name, former in (
            topic_layouts.former_of(step, operation) for step in masters.done_steps(operation)
        )
        if former is None
    ]
    if not made:
        raise NotUndoable("no broker was changed")
    return DeleteTopic(order.cluster_name, order.topic_name, tuple(made), only_empty=True)


KIND: Final = Kind("create_topic", CreateTopic, plan, steps, verify, undo)


def _check_absent(layouts: topic_layouts.Layouts) -> Check:
    name = "the topic is new"
    held = [
        master.group_name
        for master, layout in layouts.items()
        if layout is not None and not isinstance(layout, Silence)
    ]
    if not held:
        return Check(name, CheckVerdict.PASS, "no master asked holds a topic of the name")
    why = f"it is there already on {masters.shortened(held)}: change it, or leave them out"
    return Check(name, CheckVerdict.BLOCK, why)
