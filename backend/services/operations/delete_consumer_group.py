"""Delete a consumer group on masters, with its offsets or without; taken back without them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import ConsumerGroupNotFound, NotUndoable
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.operations import broker_steps, group_settings, groups, masters
from backend.services.operations.consumer_group_orders import (
    CreateConsumerGroup,
    DeleteConsumerGroup,
)
from backend.services.operations.group_settings import PlacedSettings
from backend.services.operations.kind import (
    Effect,
    Kind,
    OperationContext,
    StepRun,
    StepWork,
)
from backend.services.operations.masters import Master, Silence
from backend.services.operations.topic_layouts import masters_of


@dataclass(frozen=True, slots=True)
class Usage:
    """Hold who is connected, and how much of which topics is unread."""

    members: tuple[str, ...]
    lags: Mapping[str, int]


async def plan(order: DeleteConsumerGroup, context: OperationContext) -> Plan:
    """Say who uses the group, and what of its place would be lost.

    Raises:
        InvalidName: no cluster, or no consumer group of a user, may be called so.
        ClusterNotFound: no cluster is.
        BrokerGroupNotFound: a group named is not there.
        ConsumerGroupNotFound: no master asked knows it.
    """
    group = masters.check_consumer_group(order.group_name)
    meant = await masters.find_masters(order.cluster_name, order.broker_groups, context)
    present = await group_settings.read_settings(meant.found, group, context)
    held = {one: told for one, told in present.items() if isinstance(told, GroupSettings)}
    if not held and not any(isinstance(one, Silence) for one in present.values()):
        raise ConsumerGroupNotFound(order.cluster_name, group)
    brokers = context.brokers

    async def ask(one: Master) -> Usage:
        lags: dict[str, int] = {}
        for queue in await brokers.progress(one.address, group):
            lags[queue.topic] = lags.get(queue.topic, 0) + queue.lag
        return Usage(tuple(await brokers.members(one.address, group)), lags)

    usage = await masters.ask_each([*held], ask)
    loss = _loss(usage) if order.cleans_offsets else None
    return Plan(
        summary=f"consumer group {group} is deleted on {len(held)} broker groups"
        + (", with its offsets" if order.cleans_offsets else ""),
        risk=Risk.LOSS if order.cleans_offsets else Risk.SERVICE,
        steps=tuple(
            PlannedStep(f"delete-{one.group_name}", f"delete it on {one.group_name}")
            for one in sorted(held)
        ),
        preconditions=(meant.precondition, *group_settings.preconditions(present)),
        changes=tuple(
            change
            for one in sorted(held)
            for change in group_settings.differences(one, held[one], None)
        ),
        impact=_impact(order, usage),
        checks=(
            meant.check(CheckVerdict.BLOCK if order.broker_groups else CheckVerdict.WARN),
            masters.check_answers({**present, **usage}),
            _check_members(usage),
            await masters.check_fencing(meant.found, context),
        ),
        way_back="create it anew with the former settings, which the journal keeps"
        + ("; where it was is not restored" if order.cleans_offsets else "; its offsets stay"),
        loss=loss,
        facts={
            "brokers": [
                {"group_name": one.group_name, "address": one.address} for one in sorted(held)
            ]
        },
    )


def steps(
    order: DeleteConsumerGroup, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Delete it on one master after another."""
    return [_delete_work(one, order, context) for one in masters_of(operation)]


async def verify(
    order: DeleteConsumerGroup, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back that no master knows it."""
    holders = masters_of(operation)
    present = await group_settings.read_settings(holders, order.group_name, context)
    return [
        groups.compare(
            f"group on {one.group_name}",
            "none",
            None if isinstance(told, Silence) else group_settings.settings_text(told),
        )
        for one, told in present.items()
    ]


def undo(order: DeleteConsumerGroup, operation: Operation) -> CreateConsumerGroup:
    """Create it anew where it was deleted.

    Raises:
        NotUndoable: it was deleted nowhere.
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
    return CreateConsumerGroup(order.cluster_name, order.group_name, settings=tuple(former))


KIND: Final = Kind("delete_consumer_group", DeleteConsumerGroup, plan, steps, verify, undo)


def _delete_work(master: Master, order: DeleteConsumerGroup, context: OperationContext) -> StepWork:
    brokers, group = context.brokers, order.group_name

    async def read() -> Value:
        return group_settings.value_of(await brokers.group_settings(master.address, group))

    async def delete(run: StepRun) -> Value | Effect:
        told = await brokers.delete_group(
            master.address,
            group,
            broker_steps.fence_of(run),
            cleans_offsets=order.cleans_offsets,
        )
        if told is None:
            return await read()
        return group_settings.told_effect(told.before, told.after)

    return StepWork(read, delete)


def _loss(usage: Mapping[Master, Usage | Silence]) -> str:
    unread = _unread(usage)
    if not unread:
        return "the group's place in every topic"
    told = masters.shortened(f"{topic} {count}" for topic, count in sorted(unread.items()))
    return f"the group's place in every topic; unread are {told} messages"


def _unread(usage: Mapping[Master, Usage | Silence]) -> dict[str, int]:
    unread: dict[str, int] = {}
    for told in usage.values():
        if isinstance(told, Usage):
            for topic, lag in told.lags.items():
                unread[topic] = unread.get(topic, 0) + lag
    return {topic: count for topic, count in unread.items() if count}


def _impact(order: DeleteConsumerGroup, usage: Mapping[Master, Usage | Silence]) -> tuple[str, ...]:
    group = order.group_name
    unread = _unread(usage)
    told = [
        f"consumers of {group} are refused, or make it anew where brokers create groups on use",
        f"the topics %RETRY%{group} and %DLQ%{group} stay, with what is in them",
    ]
    if unread:
        behind = masters.shortened(f"{topic} {count}" for topic, count in sorted(unread.items()))
        told.append(f"unread: {behind}")
    return tuple(told)


def _check_members(usage: Mapping[Master, Usage | Silence]) -> Check:
    name = "nobody uses it"
    connected = sorted(
        {one for told in usage.values() if isinstance(told, Usage) for one in told.members}
    )
    if not connected:
        return Check(name, CheckVerdict.PASS, "no member is connected")
    why = f"connected: {masters.shortened(connected)}; stop them first, or they make it anew"
    return Check(name, CheckVerdict.BLOCK, why)
