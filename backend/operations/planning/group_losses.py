"""Judge what a broker group loses if one of its brokers stops, and name how it goes on."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from backend.brokers.requests.properties import GetProperties
from backend.db import broker_groups, logical_queues
from backend.domain.broker import Broker
from backend.domain.broker_group import find_master
from backend.domain.broker_name import BrokerName
from backend.operations.actions.containers import list_online
from backend.operations.actions.static_topics import count_queues
from backend.operations.engine.kind import OperationContext
from backend.operations.planning.container_brokers import Present
from backend.services.controller.group_changes import GroupView

MIN_IN_SYNC: Final = "minInSyncReplicas"


@dataclass(frozen=True, slots=True)
class Losses:
    """Hold why a group does not go on, each as a phrase, and what it has without the broker.

    `risk` says what the next failure would cost; None if that is not due to the broker.
    """

    reasons: tuple[str, ...]
    rest: str
    risk: str | None = None


async def find_losses(present: Present, context: OperationContext) -> Losses:
    """Judge what the group of a broker loses with it."""
    order, broker, view = present.order, present.broker, present.view
    of_group = order.cluster_name, order.broker_group_name
    online = await list_online(*of_group, context)
    others = [one for one in online if one.address != present.address]
    reasons = [] if broker is None else await _list_roles(broker, view, context)
    risk = None
    if broker is not None and view is not None and _follows_in_sync(broker, view):
        reasons += await _list_refusals(broker, view, context)
        risk = _risk_of(broker, view)
    if not others:
        async with context.database.connect() as connection:
            led = await logical_queues.count_led_by(connection, *of_group)
        if led:
            count = count_queues(sum(led.values()))
            reasons.append(f"no other broker serves the {count} that the group leads")
    rest = _rest_of(others) if view is None else _rest_in_sync(present, view)
    return Losses(tuple(reasons), rest, risk)


async def _list_roles(
    broker: Broker, view: GroupView | None, context: OperationContext
) -> list[str]:
    """Return which roles of the broker no other one has."""
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
    of_group = broker.cluster_name, broker.broker_group_name
    async with context.database.connect() as connection:
        group = await broker_groups.get(connection, *of_group)
    if group.acting_id == broker.own_id:
        reasons.append("the broker acts for the absent master of its group")
    return reasons


def _follows_in_sync(broker: Broker, view: GroupView) -> bool:
    is_in_sync = broker.own_id in view.group.sync_state_set.members
    return is_in_sync and view.group.master_id not in {None, broker.own_id}


async def _list_refusals(broker: Broker, view: GroupView, context: OperationContext) -> list[str]:
    """Return whether the master refuses sends without a replica in sync."""
    master = view.group.master
    properties = (
        None if master is None else await context.brokers.find(master.address, GetProperties())
    )
    given = next((one.value for one in properties or () if one.name == MIN_IN_SYNC), "")
    count = len(view.group.sync_state_set.members - {broker.own_id})
    if not given.isdecimal() or count >= int(given):
        return []
    return [f"the master refuses sends then: {count} in sync, {MIN_IN_SYNC} is {given}"]


def _risk_of(broker: Broker, view: GroupView) -> str | None:
    left = view.group.sync_state_set.members - {broker.own_id}
    if left != {view.group.master_id}:
        return None
    master = _names(broker.broker_group_name, left)
    return f"no other replica is in sync with {master}: only the master has new messages then"


def _rest_of(others: Collection[Broker]) -> str:
    master = find_master(others)
    if master is not None:
        return f"{master.name} is its master, at {master.address}"
    names = ", ".join(str(one.name) for one in others)
    return f"it has no master now; online: {names}" if names else "none of its brokers is online"


def _rest_in_sync(present: Present, view: GroupView) -> str:
    name, group = present.order.broker_group_name, view.group
    if group.master_id is None:
        return "the controller has elected no master yet"
    left = (group.sync_state_set.members & view.liveness.alive_ids) - {present.own_id or -1}
    leader = BrokerName(name, group.master_id)
    return f"{leader} leads it; alive and in sync: {_names(name, left) or 'none'}"


def _names(broker_group_name: str, ids: Collection[int | None]) -> str:
    known = sorted(one for one in ids if one is not None)
    return ", ".join(str(BrokerName(broker_group_name, one)) for one in known)
