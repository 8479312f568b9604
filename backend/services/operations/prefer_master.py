"""Prefer a replica as master: it wins the next election among members whose logs are equal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from backend.domain.election import holds_confirmed
from backend.domain.operation import Operation, StepState, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.replica_group import PreferMaster
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
)
from backend.domain.replica_group import Change, ReplicaGroup, prefer_master
from backend.services.group_changes import GroupView, change_group, find_group
from backend.services.operations import groups
from backend.services.operations.kind import Kind, OperationContext, StepRun, StepWork


async def plan(order: PreferMaster, context: OperationContext) -> Plan:
    """Say what the preference changes, and that it elects nobody by itself.

    Raises:
        BrokerGroupNotControlled: there is no such group.
        UnknownReplica: the broker named is no replica of it.
    """
    view = await find_group(
        groups.checked(order.cluster_name, order.group_name), context.controller
    )
    group = None if view is None else view.group
    change = prefer_master(group, group_name=order.group_name, broker_id=order.broker_id)
    assert view is not None, "a group that is not known was refused"
    former, wanted = _text(view.group.preferred_id), _text(order.broker_id)
    return Plan(
        summary=f"The preferred master of {order.group_name} becomes {wanted}",
        risk=Risk.SMALL,
        steps=(PlannedStep("prefer", f"Note that {wanted} is preferred"),),
        preconditions=(Precondition("preferred master", former),),
        changes=() if change is None else (Difference("preferred master", former, wanted),),
        impact=("Nobody now: it acts at the next election, and causes none",),
        checks=_checks(order, view, change),
        way_back="Prefer the former one, or nobody, again",
        facts={"former_id": view.group.preferred_id},
    )


def steps(
    order: PreferMaster, _operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Note the preference, in one change of the group."""
    name = groups.checked(order.cluster_name, order.group_name)

    async def read() -> Value:
        view = await find_group(name, context.controller)
        return None if view is None else {"preferred_id": view.group.preferred_id}

    async def prefer(run: StepRun) -> Value:
        if await groups.find_effect(run, name, context) is None:
            await change_group(
                name,
                lambda group, _: _decide(group, order),
                context.controller,
                cause=run.cause,
                guard=run.guard,
            )
        return {"preferred_id": order.broker_id}

    return [StepWork(read, prefer)]


async def verify(
    order: PreferMaster, _operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back who is preferred."""
    view = await find_group(
        groups.checked(order.cluster_name, order.group_name), context.controller
    )
    observed = "the group is gone" if view is None else _text(view.group.preferred_id)
    return [groups.compare("preferred master", _text(order.broker_id), observed)]


def undo(order: PreferMaster, operation: Operation) -> PreferMaster:
    """Prefer whom operators preferred before.

    Raises:
        NotUndoable: nothing was changed.
    """
    former_id = operation.plan.facts["former_id"]
    if operation.steps[0].state is not StepState.DONE or former_id == order.broker_id:
        raise NotUndoable("the preference was not changed")
    return replace(order, broker_id=former_id)


KIND: Final = Kind("prefer_master", PreferMaster, plan, steps, verify, undo)


def _decide(group: ReplicaGroup | None, order: PreferMaster) -> Change | None:
    return prefer_master(group, group_name=order.group_name, broker_id=order.broker_id)


def _checks(order: PreferMaster, view: GroupView, change: Change | None) -> tuple[Check, ...]:
    if change is None:
        why = f"{_text(order.broker_id)} is preferred already; nothing would change"
        return (Check("something changes", CheckVerdict.WARN, why),)
    members = view.group.sync_state_set.members
    if order.broker_id is not None and order.broker_id not in members:
        why = (
            f"{_text(order.broker_id)} is outside the SyncStateSet: it wins nothing before it is in"
        )
        return (Check("SyncStateSet", CheckVerdict.WARN, why),)
    if (
        order.broker_id is not None
        and order.broker_id in view.liveness.sightings
        and not holds_confirmed(order.broker_id, view.group, view.liveness)
    ):
        why = f"{_text(order.broker_id)} lacks confirmed messages: it wins nothing before it has"
        return (Check("acknowledged messages", CheckVerdict.WARN, f"{why} them"),)
    why = "a longer log, or one of a newer epoch, still wins: no acknowledged message is at stake"
    return (Check("acknowledged messages", CheckVerdict.PASS, why),)


def _text(broker_id: int | None) -> str:
    return "nobody" if broker_id is None else f"broker {broker_id}"
