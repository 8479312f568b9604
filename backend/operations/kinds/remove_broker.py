"""Have a broker container stop a broker, if its group goes on without it."""

from typing import Final

from backend.domain.orders.container import RemoveBroker
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.operations.actions.containers import AwaitDeparture, StopInContainer
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.operations.planning.container_brokers import Present, read_present, settle
from backend.operations.planning.group_losses import Losses, find_losses

GATE: Final = "the broker group goes on"
COPIES: Final = "another replica has new messages"


async def read_facts(order: RemoveBroker, context: OperationContext) -> Facts[Present]:
    """Find the broker and its container, and judge what its group loses.

    Raises:
        InvalidParameters: the broker reports no container, and the order names none.
        BrokerUnknown: the records hold no such broker, and the order names no file.
        BrokerSilent: the container does not answer, or the broker to find it.
    """
    present = await read_present(order, context)
    losses = await find_losses(present, context)
    view = present.view
    return Facts(
        present,
        (
            Precondition("address", present.address or "unknown"),
            Precondition("container", present.container_address),
            Precondition("what the group loses", "; ".join(losses.reasons) or "nothing"),
            *(groups.epochs_of(view.group) if view is not None else ()),
        ),
        (_check_place(present), *_check_gate(order, losses)),
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


def _check_gate(order: RemoveBroker, losses: Losses) -> tuple[Check, ...]:
    risks = () if losses.risk is None else (Check(COPIES, CheckVerdict.WARN, losses.risk),)
    if not losses.reasons:
        return Check(GATE, CheckVerdict.PASS, losses.rest), *risks
    why = "; ".join(losses.reasons)
    if order.interrupts_group:
        return Check(GATE, CheckVerdict.WARN, why), *risks
    why = f"{why}: drain the broker or elect another master first, or accept it (interrupts_group)"
    return Check(GATE, CheckVerdict.BLOCK, why), *risks


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
