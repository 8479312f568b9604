"""Delete a consumer group on masters, perhaps with all that is kept for it; that stays gone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backend.db import protections
from backend.domain.consumer_group import GroupSettings
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import ConsumerGroupNotFound, NotUndoable
from backend.domain.orders.consumer_group import (
    CreateConsumerGroup,
    DeleteConsumerGroup,
    PlacedSettings,
)
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.domain.protection import (
    Protection,
    Resource,
    ResourceKind,
    check_unprotected,
    protection_fact,
)
from backend.domain.queue_reading import add_lags
from backend.services.operations import (
    broker_steps,
    group_leftovers,
    group_settings,
    groups,
    masters,
)
from backend.services.operations.group_leftovers import Leftover
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
    lags: Mapping[str, int | None]


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
    usage = await masters.ask_each([*held], lambda one: _ask_usage(one, group, context))
    found = await group_leftovers.find_leftovers(group, meant.found, context)
    gone = found if order.cleans_up else []
    silences = {master: why for one in gone for master, why in one.silences.items()}
    protected = await _find_protected(order, gone, context)
    return Plan(
        summary=f"Consumer group {group} is deleted on {masters.count_groups(held)}"
        + (", with its offsets, retries and dead letters" if order.cleans_up else ""),
        risk=Risk.LOSS if order.cleans_up else Risk.SERVICE,
        steps=(
            *(
                PlannedStep(f"delete-{one.group_name}", f"Delete it on {one.group_name}")
                for one in sorted(held)
            ),
            *group_leftovers.planned_steps(gone),
        ),
        preconditions=(
            meant.precondition,
            protection_fact(protected),
            *group_settings.preconditions(present),
        ),
        changes=tuple(
            change
            for one in sorted(held)
            for change in group_settings.differences(one, held[one], None)
        ),
        impact=_impact(order, usage, found),
        checks=(
            check_unprotected(protected),
            meant.check(CheckVerdict.BLOCK if order.broker_groups else CheckVerdict.WARN),
            masters.check_answers({**present, **usage, **silences}),
            _check_members(usage),
            await masters.check_fencing(meant.found, context),
        ),
        way_back="Create it anew with the former settings, which the journal keeps"
        + ("; what was kept for it is not restored" if order.cleans_up else "; its offsets stay"),
        loss=_loss(usage, gone) if order.cleans_up else None,
        facts={
            "brokers": [
                {"group_name": one.group_name, "address": one.address} for one in sorted(held)
            ],
            "topics": group_leftovers.facts_of(gone),
        },
    )


def steps(
    order: DeleteConsumerGroup, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Delete it on one master after another, then what is in topics of its own.

    In this order nobody makes these topics anew meanwhile: without the group brokers take no
    retries. Agents have deleted them with the offsets by then; brokers of stock have not.
    """
    return [
        *(_delete_work(one, order, context) for one in masters_of(operation)),
        *group_leftovers.works(order.cluster_name, operation.plan.facts["topics"], context),
    ]


async def verify(
    order: DeleteConsumerGroup, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back that no master knows it, nor holds what was to go with it."""
    holders = masters_of(operation)
    present = await group_settings.read_settings(holders, order.group_name, context)
    return [
        *(
            groups.compare(
                f"group on {one.group_name}",
                "none",
                None if isinstance(told, Silence) else group_settings.settings_text(told),
            )
            for one, told in present.items()
        ),
        *await group_leftovers.read_back(
            order.cluster_name, operation.plan.facts["topics"], context
        ),
    ]


def undo(order: DeleteConsumerGroup, operation: Operation) -> CreateConsumerGroup:
    """Create it anew where it was deleted.

    Raises:
        NotUndoable: it was deleted nowhere.
    """
    former = [
        PlacedSettings(name, settings)
        for name, settings in (
            group_settings.former_of(step, operation)
            for step in masters.done_steps(operation)
            # The steps behind those are of topics, which stay gone.
            if step.position < len(masters_of(operation))
        )
        if settings is not None
    ]
    if not former:
        raise NotUndoable("no broker was changed")
    return CreateConsumerGroup(order.cluster_name, order.group_name, settings=tuple(former))


async def version(order: DeleteConsumerGroup, context: OperationContext) -> str:
    """Read the version of how the group is served."""
    return await group_settings.read_version(order.cluster_name, order.group_name, context)


KIND: Final = Kind("delete_consumer_group", DeleteConsumerGroup, plan, steps, verify, undo, version)


async def _find_protected(
    order: DeleteConsumerGroup, gone: Sequence[Leftover], context: OperationContext
) -> dict[Resource, Protection]:
    doomed = [
        Resource(order.cluster_name, ResourceKind.CONSUMER_GROUP, order.group_name),
        *(Resource(order.cluster_name, ResourceKind.TOPIC, one.topic_name) for one in gone),
    ]
    async with context.database.connect() as connection:
        return await protections.find_of(connection, doomed)


def _delete_work(master: Master, order: DeleteConsumerGroup, context: OperationContext) -> StepWork:
    brokers, group = context.brokers, order.group_name

    async def read() -> Value:
        return group_settings.value_of(await brokers.group_settings(master.address, group))

    async def delete(run: StepRun) -> Value | Effect:
        told = await brokers.delete_group(
            master.address,
            group,
            broker_steps.fence_of(run),
            cleans_offsets=order.cleans_up,
        )
        if told is None:
            return await read()
        return group_settings.told_effect(told.before, told.after)

    return StepWork(read, delete)


def _loss(usage: Mapping[Master, Usage | Silence], gone: Sequence[Leftover]) -> str:
    unread = _unread(usage)
    told = ["the group's place in every topic"]
    if unread:
        counts = masters.shortened(unread)
        told.append(f"unread are {counts} messages")
    told += [one.text for one in gone if one.message_count != 0]
    return "; ".join(told)


async def _ask_usage(master: Master, group: str, context: OperationContext) -> Usage:
    brokers, address = context.brokers, master.address
    progress = await brokers.progress(address, group)
    online = await brokers.online_group(address, group)
    names = () if online is None else {member.client_id for member in online.members}
    # The members of a broadcasting group keep their own offsets.
    is_kept = online is None or not online.is_broadcasting
    topics = {queue.topic for queue in progress} if is_kept else set()
    lags = {
        topic: add_lags([queue for queue in progress if queue.topic == topic]) for topic in topics
    }
    return Usage(tuple(sorted(names)), lags)


def _unread(usage: Mapping[Master, Usage | Silence]) -> list[str]:
    """Name the topics in which something is unread, each with how much."""
    unread: dict[str, list[int | None]] = {}
    for told in usage.values():
        if isinstance(told, Usage):
            for topic, lag in told.lags.items():
                unread.setdefault(topic, []).append(lag)
    return [
        f"{topic} {'an unknown number' if None in lags else sum(lag or 0 for lag in lags)}"
        for topic, lags in sorted(unread.items())
        if any(lag != 0 for lag in lags)
    ]


def _impact(
    order: DeleteConsumerGroup,
    usage: Mapping[Master, Usage | Silence],
    found: Sequence[Leftover],
) -> tuple[str, ...]:
    unread = _unread(usage)
    group = order.group_name
    told = [f"Consumers of {group} are refused, or make it anew where brokers create groups on use"]
    kept = [one.text for one in found if one.message_count != 0 and not order.cleans_up]
    told += [f"Kept: {text}" for text in kept]
    if unread:
        told.append(f"Unread: {masters.shortened(unread)}")
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
