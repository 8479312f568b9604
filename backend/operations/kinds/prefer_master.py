"""Prefer a replica as master: it wins the next election among members whose logs are equal."""

from typing import Final

from backend.domain.election import holds_confirmed
from backend.domain.orders.replica_group import PreferMaster
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
)
from backend.domain.replica_group import Change, prefer_master
from backend.operations.actions import replica_groups
from backend.operations.actions.replica_groups import preferred_text
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.services.controller.group_changes import GroupView, find_group


async def read_facts(
    order: PreferMaster, context: OperationContext
) -> Facts[tuple[GroupView, Change | None]]:
    """Read which replica is preferred now.

    Raises:
        BrokerGroupNotControlled: the controller has no such group.
        UnknownReplica: the named broker is no replica of the group.
    """
    view = await find_group(
        groups.checked(order.cluster_name, order.broker_group_name), context.controller
    )
    group = None if view is None else view.group
    change = prefer_master(
        group, broker_group_name=order.broker_group_name, broker_id=order.broker_id
    )
    assert view is not None, "a group that is not known was refused"
    former = preferred_text(view.group.preferred_id)
    return Facts((view, change), (Precondition("preferred master", former),))


async def preview(
    order: PreferMaster,
    facts: Facts[tuple[GroupView, Change | None]],
    _context: OperationContext,
) -> Plan:
    """Describe the effect of the preference; it starts no election."""
    view, change = facts.seen
    former_id = view.group.preferred_id
    former, wanted = preferred_text(former_id), preferred_text(order.broker_id)
    action = replica_groups.PreferMaster(
        order.cluster_name, order.broker_group_name, order.broker_id, former_id
    )
    return Plan(
        summary=f"The preferred master of {order.broker_group_name} becomes {wanted}",
        risk=Risk.SMALL,
        steps=planned_steps([action]),
        changes=() if change is None else (Difference("preferred master", former, wanted),),
        impact=("None now: it takes effect at the next election and starts no election",),
        checks=_checks(order, view, change),
        way_back="Prefer the former broker again, or clear the preference",
        facts={"former_id": former_id},
    )


KIND: Final = Kind(
    "prefer_master", PreferMaster, read_facts, preview, (replica_groups.PreferMaster,)
)


def _checks(order: PreferMaster, view: GroupView, change: Change | None) -> tuple[Check, ...]:
    if change is None:
        why = f"{preferred_text(order.broker_id)} is preferred already; nothing would change"
        return (Check("something changes", CheckVerdict.WARN, why),)
    wanted, members = preferred_text(order.broker_id), view.group.sync_state_set.members
    if order.broker_id is not None and order.broker_id not in members:
        why = f"{wanted} is outside the SyncStateSet: it wins no election before it is inside"
        return (Check("SyncStateSet", CheckVerdict.WARN, why),)
    if (
        order.broker_id is not None
        and order.broker_id in view.liveness.reports
        and not holds_confirmed(order.broker_id, view.group, view.liveness)
    ):
        why = f"{wanted} lacks confirmed messages: it wins no election before it has them"
        return (Check("acknowledged messages", CheckVerdict.WARN, f"{why} them"),)
    why = "a longer log, or one of a newer epoch, still wins: no acknowledged message is at stake"
    return (Check("acknowledged messages", CheckVerdict.PASS, why),)
