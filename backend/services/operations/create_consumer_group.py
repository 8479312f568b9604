"""Create a consumer group on masters; taken back by deleting it while nobody uses it."""

from collections.abc import Sequence
from typing import Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.operation import Operation
from backend.domain.operation_errors import InvalidParameters, NotUndoable
from backend.domain.orders.consumer_group import CreateConsumerGroup, DeleteConsumerGroup
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.operations import group_settings, masters
from backend.services.operations.kind import Kind, OperationContext, StepWork
from backend.services.operations.masters import Silence


async def plan(order: CreateConsumerGroup, context: OperationContext) -> Plan:
    """Say where the group would be created, and whether it is there already.

    Raises:
        InvalidParameters: broker groups are named twice.
        InvalidName: no cluster, or no consumer group of a user, may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
    """
    group = masters.check_consumer_group(order.group_name)
    exact = {one.group_name: one.settings for one in order.settings}
    if exact and order.broker_groups:
        raise InvalidParameters(KIND.name, "settings name their broker groups themselves")
    chosen = tuple(exact) or order.broker_groups
    meant = await masters.find_masters(order.cluster_name, chosen, context)
    present = await group_settings.read_settings(meant.found, group, context)
    wished = group_settings.wish_of(order).of(GroupSettings())
    places = [(one, exact.get(one.group_name, wished)) for one in meant.found]
    return Plan(
        summary=f"Consumer group {group} is created on {masters.count_groups(places)}",
        risk=Risk.SMALL,
        steps=tuple(
            PlannedStep(f"create-{one.group_name}", f"Create it on {one.group_name}")
            for one, _ in places
        ),
        preconditions=(meant.precondition, *group_settings.preconditions(present)),
        changes=tuple(
            change
            for one, after in places
            for change in group_settings.differences(one, None, after)
        ),
        impact=("Consumers of the group may connect where brokers create no groups by themselves",),
        checks=(
            meant.check(CheckVerdict.BLOCK if chosen else CheckVerdict.WARN),
            masters.check_answers(present),
            _check_absent(present),
            await masters.check_fencing(meant.found, context),
        ),
        way_back="Delete it again, for as long as nobody uses it",
        facts=group_settings.put_facts(places),
    )


def steps(
    order: CreateConsumerGroup, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Create it on one master after another."""
    return group_settings.put_works(order.group_name, operation, context)


async def verify(
    order: CreateConsumerGroup, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back how each master serves it."""
    return await group_settings.read_back(order.group_name, operation, context)


def undo(order: CreateConsumerGroup, operation: Operation) -> DeleteConsumerGroup:
    """Delete it where it was created; its offsets stay.

    Raises:
        NotUndoable: it was created nowhere.
    """
    made = [
        name
        for name, former in (
            group_settings.former_of(step, operation) for step in masters.done_steps(operation)
        )
        if former is None
    ]
    if not made:
        raise NotUndoable("no broker was changed")
    return DeleteConsumerGroup(order.cluster_name, order.group_name, tuple(made))


KIND: Final = Kind("create_consumer_group", CreateConsumerGroup, plan, steps, verify, undo)


def _check_absent(present: group_settings.Settings) -> Check:
    name = "the group is new"
    held = [
        master.group_name
        for master, settings in present.items()
        if settings is not None and not isinstance(settings, Silence)
    ]
    if not held:
        return Check(name, CheckVerdict.PASS, "no master asked knows a group of the name")
    why = f"it is there already on {masters.shortened(held)}: change it, or leave them out"
    return Check(name, CheckVerdict.BLOCK, why)
