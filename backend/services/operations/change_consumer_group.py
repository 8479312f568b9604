"""Change how masters serve a consumer group; taken back by the former values."""

from collections.abc import Sequence
from typing import Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.operation import Operation
from backend.domain.operation_errors import (
    ConsumerGroupNotFound,
    InvalidParameters,
    NotUndoable,
)
from backend.domain.orders.consumer_group import ChangeConsumerGroup, PlacedSettings
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.operations import group_settings, masters
from backend.services.operations.kind import Kind, OperationContext, StepWork
from backend.services.operations.masters import Master, Silence


async def plan(order: ChangeConsumerGroup, context: OperationContext) -> Plan:
    """Say what becomes of the group on each master that knows it.

    Raises:
        InvalidParameters: nothing is wished for, or two things at once.
        InvalidName: no cluster, or no consumer group of a user, may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
        ConsumerGroupNotFound: no master asked knows it.
    """
    group = masters.check_consumer_group(order.group_name)
    exact = _exact(order)
    wish = group_settings.wish_of(order)
    chosen = tuple(exact) or order.broker_groups
    meant = await masters.find_masters(order.cluster_name, chosen, context)
    present = await group_settings.read_settings(meant.found, group, context)
    held = {one: told for one, told in present.items() if isinstance(told, GroupSettings)}
    if not held and not any(isinstance(one, Silence) for one in present.values()):
        raise ConsumerGroupNotFound(order.cluster_name, group)
    wished = {one: exact[one.group_name] if exact else wish.of(told) for one, told in held.items()}
    changed = [
        (one, after) for one, after in sorted(wished.items(), key=_name) if after != held[one]
    ]
    return Plan(
        summary=f"Consumer group {group} changes on {len(changed)} of {masters.count_groups(held)}",
        risk=Risk.SERVICE,
        steps=tuple(
            PlannedStep(f"change-{one.group_name}", f"Change it on {one.group_name}")
            for one, _ in changed
        ),
        preconditions=(meant.precondition, *group_settings.preconditions(present)),
        changes=tuple(
            change
            for one, after in changed
            for change in group_settings.differences(one, held[one], after)
        ),
        impact=_impact(group, changed),
        checks=(
            meant.check(CheckVerdict.BLOCK if chosen else CheckVerdict.WARN),
            masters.check_answers(present),
            _check_effect(changed),
            await masters.check_fencing(meant.found, context),
        ),
        way_back="Change it back to the former values, which the journal keeps",
        facts=group_settings.put_facts(changed),
    )


def steps(
    order: ChangeConsumerGroup, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Change it on one master after another."""
    return group_settings.put_works(order.group_name, operation, context)


async def verify(
    order: ChangeConsumerGroup, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back how each master serves it."""
    return await group_settings.read_back(order.group_name, operation, context)


def undo(order: ChangeConsumerGroup, operation: Operation) -> ChangeConsumerGroup:
    """Give each broker group that was changed its former settings.

    Raises:
        NotUndoable: none was changed.
    """
    former = [
        PlacedSettings(name, settings)
        for name, settings in (
            group_settings.former_of(step, operation) for step in masters.done_steps(operation)
        )
        if settings is not None
    ]
    if not former:
        raise NotUndoable("no broker was changed")
    return ChangeConsumerGroup(order.cluster_name, order.group_name, settings=tuple(former))


async def version(order: ChangeConsumerGroup, context: OperationContext) -> str:
    """Read the version of how the group is served."""
    return await group_settings.read_version(order.cluster_name, order.group_name, context)


KIND: Final = Kind("change_consumer_group", ChangeConsumerGroup, plan, steps, verify, undo, version)


def _exact(order: ChangeConsumerGroup) -> dict[str, GroupSettings]:
    exact = {one.group_name: one.settings for one in order.settings}
    is_empty = group_settings.wish_of(order).is_empty
    if bool(exact) is not is_empty:
        what = "give something to change" if is_empty else "settings stand alone"
        raise InvalidParameters(KIND.name, what)
    if exact and order.broker_groups:
        raise InvalidParameters(KIND.name, "settings name their broker groups themselves")
    return exact


def _name(one: tuple[Master, GroupSettings]) -> str:
    return one[0].group_name


def _impact(group: str, changed: Sequence[tuple[Master, GroupSettings]]) -> tuple[str, ...]:
    stopped = [one.group_name for one, after in changed if not after.consume_enabled]
    told = []
    if len(stopped) < len(changed):
        told.append(
            f"Consumers of {group} go on; what they pull and retry next goes by the new values"
        )
    if stopped:
        told.append(f"Nothing is read on {masters.shortened(stopped)}; the lag grows")
    return tuple(told)


def _check_effect(changed: Sequence[tuple[Master, GroupSettings]]) -> Check:
    name = "something changes"
    if changed:
        return Check(name, CheckVerdict.PASS, f"on {masters.count_groups(changed)}")
    return Check(name, CheckVerdict.BLOCK, "every master serves it so already")
