"""Have a broker container stop a broker, if its group goes on without it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.containers import CONTAINER_FIGURE, GetContainer
from backend.brokers.requests.figures import GetRuntimeInfo
from backend.db import logical_queues
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.container import ContainerReport, InnerBroker
from backend.domain.names import check_address
from backend.domain.operation_errors import BrokerSilent, InvalidParameters
from backend.domain.orders.container import RemoveBroker
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.operations.actions.containers import AwaitDeparture, StopInContainer, list_online
from backend.operations.actions.static_topics import count_queues
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.operations.planning.broker_permissions import find_broker, settle
from backend.services.controller.group_changes import GroupView, find_group

GATE: Final = "the broker group goes on"


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the broker, its container, and its group if that is under a controller."""

    broker: Broker
    container_address: str
    report: ContainerReport
    view: GroupView | None

    @property
    def id_in_file(self) -> int:
        """Return the id that the file of the broker has: under a controller it has 0."""
        return self.broker.own_id if self.view is None else MASTER_ID

    @property
    def listed(self) -> InnerBroker | None:
        """Return the broker as the container lists it; None if it does not."""
        broker = self.broker
        ids = {broker.own_id, self.id_in_file}
        return self.report.find(broker.cluster_name, broker.broker_group_name, ids)

    @property
    def id_in_container(self) -> int:
        """Return the id that the container knows."""
        return self.id_in_file if self.listed is None else self.listed.broker_id

    @property
    def path(self) -> str | None:
        """Return the file of the broker, None if the container does not report it."""
        return None if self.listed is None else self.listed.path


async def read_facts(order: RemoveBroker, context: OperationContext) -> Facts[Present]:
    """Find the broker and its container, and judge what its group loses.

    Raises:
        InvalidParameters: the broker reports no container, and the order names none.
        BrokerUnknown: the records hold no such broker.
        BrokerSilent: the container does not answer, or the broker to find it.
    """
    broker = await find_broker(order, context)
    figures = await context.brokers.find(broker.address, GetRuntimeInfo()) or {}
    address = _container_of(order, figures)
    try:
        report = await context.brokers.ask(address, GetContainer())
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
    name = groups.checked(order.cluster_name, order.broker_group_name)
    view = await find_group(name, context.controller)
    present = Present(broker, address, report, view)
    reasons = await _list_losses(present, figures, context)
    return Facts(
        present,
        (
            Precondition("address", broker.address),
            Precondition("container", address),
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
        broker.own_id,
        present.id_in_file,
        present.id_in_container,
        present.path,
    )
    departure = AwaitDeparture(order.cluster_name, order.broker_group_name, broker.address)
    return Plan(
        summary=f"Broker {broker.name} ({broker.address}) stops, and leaves {where}",
        risk=Risk.SERVICE,
        steps=planned_steps([stop, departure]),
        changes=(Difference(f"broker {broker.name} in {where}", broker.address, None),),
        impact=(
            "The other brokers of the container go on",
            "Its store and its file stay; its record stays until you forget the broker",
        ),
        checks=facts.checks,
        way_back=_undo_text(present),
        facts={"address": broker.address, "container_address": present.container_address},
    )


KIND: Final = Kind(
    "remove_broker",
    RemoveBroker,
    read_facts,
    preview,
    (StopInContainer, AwaitDeparture),
    settle=settle,
)


def _container_of(order: RemoveBroker, figures: Mapping[str, str]) -> str:
    if order.container_address is not None:
        return check_address(order.container_address)
    if address := figures.get(CONTAINER_FIGURE):
        return address
    reason = f"broker {order.target} reports no container: name it with --container"
    raise InvalidParameters("remove_broker", reason)


async def _list_losses(
    present: Present, figures: Mapping[str, str], context: OperationContext
) -> list[str]:
    """Return what the group loses with the broker, each as a phrase."""
    broker, view = present.broker, present.view
    of_group = broker.cluster_name, broker.broker_group_name
    reasons = []
    if view is None:
        if broker.is_master and broker.is_online:
            reasons.append("the broker is the master of its group, which has no controller")
    else:
        in_sync = view.group.sync_state_set.members
        if view.group.master_id == broker.own_id:
            reasons.append("the broker leads its group")
        if broker.own_id in in_sync and not (in_sync & view.liveness.alive_ids) - {broker.own_id}:
            reasons.append("no other replica in sync is alive")
    if figures.get("actingSince", "0") != "0":
        reasons.append("the broker acts for the absent master of its group")
    others = {one.address for one in await list_online(*of_group, context)} - {broker.address}
    if not others:
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
    if present.path is None:
        why = f"{present.container_address} does not list {present.broker.name}"
        return Check(name, CheckVerdict.BLOCK, why)
    return Check(name, CheckVerdict.PASS, f"with the file {present.path}")


def _undo_text(present: Present) -> str:
    if present.path is None:
        return "Add it to the container again, with its file"
    return f"Add it to the container again: {present.path}"
