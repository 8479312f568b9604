"""Protect a topic, a consumer group or a broker from deletion, or lift that (console 1.2).

The protection is a row of the control plane, which no broker knows of: it blocks the plans of what
deletes, and stops nobody who asks a broker directly.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from backend.db import brokers, clusters, protections, topics
from backend.domain.names import check_address, check_cluster_name, check_group_name
from backend.domain.operation import Operation, StepState, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.protection import ChangeProtection
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
from backend.domain.protection import (
    UNPROTECTED,
    Protection,
    ResourceKind,
    protection_text,
    split_broker_name,
)
from backend.services.operations import group_settings, groups, masters
from backend.services.operations.kind import Kind, OperationContext, StepRun, StepWork

WHAT_DELETES: Final = {
    ResourceKind.TOPIC: "delete_topic, and of delete_consumer_group that cleans it up,",
    ResourceKind.CONSUMER_GROUP: "delete_consumer_group",
    ResourceKind.BROKER: "forget_broker and forget_replicas",
}


async def plan(order: ChangeProtection, context: OperationContext) -> Plan:
    """Say who protects it now, and what the change blocks or allows.

    Raises:
        InvalidName: nothing of the kind may be called so.
        InvalidAddress: no broker could be reached there.
        ClusterNotFound: no cluster is called so.
    """
    _check_name(order)
    former = await _find(order, context)
    deletes = WHAT_DELETES[order.resource_kind]
    is_lifted = not order.is_protected
    wanted = UNPROTECTED if is_lifted else "by whoever confirms this"
    is_changed = (former is None) is order.is_protected
    becomes = "may be deleted again" if is_lifted else "is protected from deletion"
    act = "Lift the protection" if is_lifted else "Note the protection"
    return Plan(
        summary=f"{order.what[0].upper()}{order.what[1:]} {becomes}",
        risk=Risk.SERVICE if is_lifted else Risk.SMALL,
        steps=(PlannedStep("protection", f"{act} of {order.what}"),),
        preconditions=(Precondition("deletion protection", protection_text(former)),),
        changes=(Difference("deletion protection", protection_text(former), wanted),)
        if is_changed
        else (),
        impact=(
            f"Plans of {deletes} are {'possible again' if is_lifted else 'blocked'}",
            "Plans of them that wait for their confirmation are void",
            "Brokers know nothing of it: what asks one directly, as stock tools do, is not stopped",
        ),
        checks=(_check_change(is_changed=is_changed), await _check_known(order, context)),
        way_back="Protect it again; who protected it before stays in the audit"
        if is_lifted
        else "Lift it",
    )


def steps(
    order: ChangeProtection, _operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Write or remove the row, in one transaction."""

    async def read() -> Value:
        return _value(await _find(order, context))

    async def change(run: StepRun) -> Value:
        async with context.database.begin() as connection:
            await run.guard(connection)
            if order.is_protected:
                by, why = run.operation.confirmed_by or "", run.operation.reason
                wanted = Protection(order.resource, by, context.clock.now(), why)
                await protections.add(connection, wanted)
            else:
                await protections.remove(connection, order.resource)
        return await read()

    return [StepWork(read, change)]


async def verify(
    order: ChangeProtection, _operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back whether it is protected."""
    found = await _find(order, context)
    intended = "set" if order.is_protected else UNPROTECTED
    observed = UNPROTECTED if found is None else "set"
    return [groups.compare("deletion protection", intended, observed)]


def undo(order: ChangeProtection, operation: Operation) -> ChangeProtection:
    """Lift what was set, or protect it again.

    Raises:
        NotUndoable: nothing was changed.
    """
    step = operation.steps[0]
    if step.state is not StepState.DONE or (step.before is None) is not order.is_protected:
        raise NotUndoable("the protection was not changed")
    return replace(order, is_protected=not order.is_protected)


KIND: Final = Kind("change_protection", ChangeProtection, plan, steps, verify, undo)


def _check_name(order: ChangeProtection) -> None:
    check_cluster_name(order.cluster_name)
    if order.resource_kind is ResourceKind.TOPIC:
        masters.check_topic(order.resource_name)
    elif order.resource_kind is ResourceKind.CONSUMER_GROUP:
        masters.check_consumer_group(order.resource_name)
    else:
        group_name, address = split_broker_name(order.resource_name)
        check_group_name(group_name)
        check_address(address)


async def _find(order: ChangeProtection, context: OperationContext) -> Protection | None:
    async with context.database.connect() as connection:
        await clusters.get(connection, order.cluster_name)
        return await protections.find(connection, order.resource)


def _check_change(*, is_changed: bool) -> Check:
    name = "something changes"
    if is_changed:
        return Check(name, CheckVerdict.PASS, "it stands otherwise now")
    return Check(name, CheckVerdict.WARN, "it stands so already; nothing would change")


async def _check_known(order: ChangeProtection, context: OperationContext) -> Check:
    """Warn where nothing of the name is there, which may be a slip and need not be one."""
    name = "it is there"
    known = await _is_known(order, context)
    if known is None:
        return Check(name, CheckVerdict.WARN, "not told: no master that answers knows it")
    if known:
        return Check(name, CheckVerdict.PASS, f"the cluster knows the {order.what}")
    why = f"the cluster knows no {order.what} now: the protection holds for the name"
    return Check(name, CheckVerdict.WARN, why)


async def _is_known(order: ChangeProtection, context: OperationContext) -> bool | None:
    cluster_name, name = order.cluster_name, order.resource_name
    if order.resource_kind is ResourceKind.CONSUMER_GROUP:
        meant = await masters.find_masters(cluster_name, (), context)
        told = await group_settings.read_settings(meant.found, name, context)
        if any(one is not None and not isinstance(one, masters.Silence) for one in told.values()):
            return True
        is_told = not meant.missing and masters.Silence not in {type(o) for o in told.values()}
        return False if is_told else None
    async with context.database.connect() as connection:
        if order.resource_kind is ResourceKind.TOPIC:
            return bool(await topics.list_groups_of(connection, cluster_name, name))
        group_name, address = split_broker_name(name)
        found = await brokers.find(connection, cluster_name, group_name, address=address)
        return found is not None


def _value(protection: Protection | None) -> Value:
    if protection is None:
        return None
    return {
        "protected_by": protection.protected_by,
        "protected_at": protection.protected_at.isoformat(),
        "reason": protection.reason,
    }
