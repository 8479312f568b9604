"""Have a broker container stop a broker, if its group goes on without it."""

from typing import Final

from backend.db import broker_groups, logical_queues
from backend.domain.orders.container import RemoveBroker
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.operations.actions.containers import AwaitDeparture, StopInContainer, list_online
from backend.operations.actions.static_topics import count_queues
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.operations.planning.container_brokers import Present, read_present, settle

GATE: Final = "the broker group goes on"


async def read_facts(order: RemoveBroker, context: OperationContext) -> Facts[Present]:
    """Find the broker and its container, and judge what its group loses.

    Raises:
        InvalidParameters: the broker reports no container, and the order names none.
        BrokerUnknown: the records hold no such broker, and the order names no file.
        BrokerSilent: the container does not answer, or the broker to find it.
    """
    present = await read_present(order, context)
    reasons = await _list_losses(present, context)
    view = present.view
    return Facts(
        present,
        (
            Precondition("address", present.address or "unknown"),
            Precondition("container", present.container_address),
            Precondition("what the group loses", "; ".join(reasons) or "nothing"),
            *(groups.epochs_of(view.group) if view is not None else ()),
        ),
        (_check_place(present), _check_gate(order, reasons)),
    )


async def preview(order: RemoveBroker, facts: Facts[Present], _context: OperationContext) -> Plan:
    """Say what stops, and what stays."""
    present = facts.seen
    broker, where = present.broker, f"container {present.container_address}"
    stop = StopInContainer(
        order.cluster_name,
        present.container_address,
        order.broker_group_name,
        present.own_id,
        present.id_in_file,
        present.id_in_container,
        present.path,
    )
    actions: list[Action] = [stop]
    if broker is not None and broker.is_registered:
        departure = AwaitDeparture(order.cluster_name, order.broker_group_name, broker.address)
        actions.append(departure)
    address = present.address or "at an unknown address"
    return Plan(
        summary=f"Broker {present.name} ({address}) stops, and leaves {where}",
        risk=Risk.SERVICE,
        steps=planned_steps(actions),
        changes=(Difference(f"broker {present.name} in {where}", present.address, None),),
        impact=(
            "The other brokers of the container go on",
            "Its store and its file stay"
            if broker is None
            else "Its store and its file stay; its record stays until you forget the broker",
        ),
        checks=facts.checks,
        way_back=_undo_text(present),
        facts={"address": present.address, "container_address": present.container_address},
    )


KIND: Final = Kind(
    "remove_broker",
    RemoveBroker,
    read_facts,
    preview,
    (StopInContainer, AwaitDeparture),
    settle=settle,
)


async def _list_losses(present: Present, context: OperationContext) -> list[str]:
    """Return what the group loses with the broker, each as a phrase."""
    order, broker, view = present.order, present.broker, present.view
    of_group = order.cluster_name, order.broker_group_name
    reasons = []
    if broker is not None and view is None and broker.is_master and broker.is_online:
        reasons.append("the broker is the master of its group, which has no controller")
    if broker is not None and view is not None:
        in_sync = view.group.sync_state_set.members
        if view.group.master_id == broker.own_id:
            reasons.append("the broker leads its group")
        if broker.own_id in in_sync and not (in_sync & view.liveness.alive_ids) - {broker.own_id}:
            reasons.append("no other replica in sync is alive")
    online = await list_online(*of_group, context)
    if broker is not None:
        async with context.database.connect() as connection:
            group = await broker_groups.get(connection, *of_group)
        if group.acting_id == broker.own_id:
            reasons.append("the broker acts for the absent master of its group")
    if not {one.address for one in online} - {present.address}:
        async with context.database.connect() as connection:
            led = await logical_queues.count_led_by(connection, *of_group)
        if led:
            count = count_queues(sum(led.values()))
            reasons.append(f"no other broker serves the {count} that the group leads")
    return reasons


def _check_gate(order: RemoveBroker, reasons: list[str]) -> Check:
    if not reasons:
        return Check(GATE, CheckVerdict.PASS, "another broker leads it, and has its messages")
    why = "; ".join(reasons)
    if order.interrupts_group:
        return Check(GATE, CheckVerdict.WARN, why)
    why = f"{why}: drain the broker or elect another master first, or accept it (interrupts_group)"
    return Check(GATE, CheckVerdict.BLOCK, why)


def _check_place(present: Present) -> Check:
    name = "the container has the broker"
    if present.report.brokers is None:
        why = "a RocketMQ container lists files, not brokers"
        return Check(name, CheckVerdict.WARN, why)
    listed = present.listed
    if listed is None:
        why = f"{present.container_address} does not list {present.name}"
        return Check(name, CheckVerdict.BLOCK, why)
    if present.is_other:
        why = f"{listed.path} is not the file of {present.name}: order the broker of the file"
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, f"with the file {present.path}")


def _undo_text(present: Present) -> str:
    if present.path is None:
        return "Add it to the container again, with its file"
    return f"Add it to the container again: {present.path}"
