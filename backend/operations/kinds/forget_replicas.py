"""Forget replicas that will not return, or a whole group (control-plane.md 1.13)."""

from dataclasses import dataclass
from typing import Final

from backend.db import protections
from backend.domain.errors import BrokerGroupNotControlled, CleanRefused, UnknownReplica
from backend.domain.orders.replica_group import ForgetReplicas
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.protection import (
    Protection,
    Resource,
    broker_resource,
    check_unprotected,
    protection_fact,
)
from backend.domain.replica_group import ReplicaGroup, clean_replicas
from backend.operations.actions import replica_groups
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.services.controller.group_changes import GroupView, find_group

STOCK_REFUSED: Final = 2009


@dataclass(frozen=True, slots=True)
class Doomed:
    """Hold the replicas to forget, and which of them are alive."""

    group: ReplicaGroup
    ids: list[int]
    living: list[int]


async def read_facts(order: ForgetReplicas, context: OperationContext) -> Facts[Doomed]:
    """Read which replicas would be forgotten, and whether that is allowed now.

    Raises:
        BrokerGroupNotControlled: the controller has no such group.
        UnknownReplica: a named broker is no replica of the group.
        CleanRefused: the order names a living replica, and not the whole group.
    """
    name = groups.checked(order.cluster_name, order.broker_group_name)
    if order.includes_living and order.broker_ids:
        raise CleanRefused(
            order.broker_group_name, "loses living replicas only as a whole; name none"
        )
    view = await find_group(name, context.controller)
    if view is None:
        raise BrokerGroupNotControlled(order.broker_group_name)
    group = view.group
    for broker_id in sorted(set(order.broker_ids) - group.replicas.keys()):
        raise UnknownReplica(order.broker_group_name, broker_id)
    ids = sorted(set(order.broker_ids) or group.replicas.keys())
    living = sorted(view.liveness.alive_ids.intersection(ids))
    protected = await _find_protections(group, ids, context)
    return Facts(
        Doomed(group, ids, living),
        (
            *groups.epochs_of(group),
            protection_fact(protected),
            Precondition("replicas", groups.ids_text(group.replicas.keys())),
            Precondition("alive among those to be forgotten", groups.ids_text(living)),
        ),
        (check_unprotected(protected), _check(order, view, ids)),
    )


async def preview(order: ForgetReplicas, facts: Facts[Doomed], context: OperationContext) -> Plan:
    """Name the replicas to forget, and the topics on the group."""
    group, ids, living = facts.seen.group, facts.seen.ids, facts.seen.living
    name = groups.checked(order.cluster_name, order.broker_group_name)
    # Also recorded if it is refused, since the group can't be read after the operation.
    left = group.replicas.keys() - set(ids)
    members = group.sync_state_set.members
    what = f"replicas {groups.ids_text(ids)}" if left else f"group {group.name}"
    are = "are" if left else "is"
    action = replica_groups.RemoveReplicas(
        order.cluster_name,
        order.broker_group_name,
        order.broker_ids,
        tuple(ids),
        order.includes_living,
        group.master_epoch,
        not left,
    )
    return Plan(
        summary=f"{what[0].upper()}{what[1:]} of cluster {group.cluster_name} {are} forgotten",
        risk=Risk.LOSS,
        steps=planned_steps([action]),
        changes=(
            Difference(
                "replicas",
                groups.ids_text(group.replicas.keys()),
                groups.ids_text(left) if left else None,
            ),
            Difference(
                "SyncStateSet",
                groups.ids_text(members),
                groups.ids_text(members - set(ids)) if left else None,
            ),
        ),
        impact=(
            f"{await groups.count_topics(name, context)} topics are placed on {group.name}",
            f"Alive among those to be forgotten: {groups.ids_text(living)}",
        ),
        checks=facts.checks,
        way_back=no_undo(
            "their ids are never used again; adopt a lost group when its brokers wait for adoption"
        ),
        loss=f"what only {groups.ids_text(ids)} hold",
        facts={"broker_ids": ids},
    )


KIND: Final = Kind(
    "forget_replicas", ForgetReplicas, read_facts, preview, (replica_groups.RemoveReplicas,)
)


async def _find_protections(
    group: ReplicaGroup, ids: list[int], context: OperationContext
) -> dict[Resource, Protection]:
    """Find the protected replicas among those to forget; the last replica takes the group along."""
    cluster_name, name = group.cluster_name, group.name
    async with context.database.connect() as connection:
        found = await protections.list_of_broker_group(connection, cluster_name, name)
    if set(ids) == group.replicas.keys():
        return found
    gone = {broker_resource(cluster_name, name, group.replicas[i].address) for i in ids}
    return {resource: one for resource, one in found.items() if resource in gone}


def _check(order: ForgetReplicas, view: GroupView, ids: list[int]) -> Check:
    try:
        clean_replicas(
            view.group,
            broker_group_name=order.broker_group_name,
            broker_ids=frozenset(ids),
            cleans_living=order.includes_living,
            alive_ids=view.liveness.alive_ids,
        )
    except CleanRefused as error:
        return Check("they may go", CheckVerdict.BLOCK, str(error), STOCK_REFUSED)
    return Check("they may go", CheckVerdict.PASS, "the group does not need them")
