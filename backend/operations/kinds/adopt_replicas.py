"""Adopt brokers whose group the control plane lost, as an operator orders (D6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.domain.adoption import Candidate
from backend.domain.adoption import adopt_replicas as decide_adoption
from backend.domain.errors import AdoptionRefused
from backend.domain.orders.replica_group import AdoptReplicas
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.replica_group import Change, LeasePolicy, ReplicaGroup
from backend.operations.actions import replica_groups
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.services.controller import adoptions
from backend.services.controller.group_changes import find_group

STOCK_REFUSED: Final = 2005


@dataclass(frozen=True, slots=True)
class Adoption:
    """Hold the present group, the group after a restart, and the group after the adoption."""

    group: ReplicaGroup | None
    empty: ReplicaGroup
    change: Change | None


async def read_facts(order: AdoptReplicas, context: OperationContext) -> Facts[Adoption]:
    """Read which brokers wait for adoption, and why one may not be adopted."""
    name = groups.checked(order.cluster_name, order.broker_group_name)
    view = await find_group(name, context.controller)
    group = None if view is None else view.group
    candidates = await adoptions.find_candidates(name, context.controller)
    empty = await adoptions.begin_again(name, context.controller)
    change, check = _decide(order, group, empty, candidates)
    return Facts(
        Adoption(group, empty, change),
        (
            *groups.epochs_of(group),
            Precondition("brokers that wait for adoption", _waiting(candidates)),
        ),
        (check,),
    )


async def preview(order: AdoptReplicas, facts: Facts[Adoption], context: OperationContext) -> Plan:
    """Name the brokers to adopt, and what may be lost."""
    group, change = facts.seen.group, facts.seen.change
    is_lost, policy = group is None, context.controller.lease_policy
    who = f"Brokers {groups.ids_text(order.broker_ids)}"
    return Plan(
        summary=f"{who} are adopted into {order.broker_group_name}",
        risk=Risk.LOSS if order.accepts_loss else Risk.SERVICE,
        steps=planned_steps(_actions(order, group, policy)),
        changes=_changes(group, change),
        impact=("The group's topics are served again once a master is elected",)
        if is_lost
        else ("The brokers follow the master, which may cut their logs",),
        checks=facts.checks,
        way_back=no_undo("forget the group, and its brokers wait for adoption again"),
        loss=_loss(facts.seen.empty, change) if order.accepts_loss else None,
        facts={"lease_policy": policy, "is_lost": is_lost},
    )


KIND: Final = Kind(
    "adopt_replicas",
    AdoptReplicas,
    read_facts,
    preview,
    (replica_groups.AdoptBrokers, replica_groups.AwaitMaster),
)


def _actions(order: AdoptReplicas, group: ReplicaGroup | None, policy: LeasePolicy) -> list[Action]:
    """Adopt in one change of the group, and wait for the master of a lost group."""
    adopt = replica_groups.AdoptBrokers(
        order.cluster_name,
        order.broker_group_name,
        order.broker_ids,
        order.master_id,
        order.least_epoch,
        order.accepts_loss,
        policy,
        0 if group is None else group.master_epoch,
    )
    if group is not None:
        return [adopt]
    return [adopt, replica_groups.AwaitMaster(order.cluster_name, order.broker_group_name)]


def _decide(
    order: AdoptReplicas,
    group: ReplicaGroup | None,
    empty: ReplicaGroup,
    candidates: Mapping[int, Candidate],
) -> tuple[Change | None, Check]:
    try:
        change = decide_adoption(
            group, empty, candidates, order.order, spare_codes=dict.fromkeys(candidates, "")
        )
    except AdoptionRefused as error:
        return None, Check("the known facts suffice", CheckVerdict.BLOCK, str(error), STOCK_REFUSED)
    return change, Check(
        "the known facts suffice", CheckVerdict.PASS, "nothing forbids the adoption"
    )


def _loss(empty: ReplicaGroup, change: Change | None) -> str:
    """Name the loss, in bytes if known."""
    text = "acknowledged messages that no adopted broker holds"
    lost, after = empty.confirmed, None if change is None else change.after
    if not lost.is_known or after is None or after.confirmed == lost:
        return text
    missing = lost.missing_bytes(after.confirmed.position)
    amount = "an unknown amount" if missing is None else f"{missing} bytes"
    return f"{text}: {amount} before log position {lost.position} of epoch {lost.epoch}"


def _waiting(candidates: Mapping[int, Candidate]) -> str:
    return ", ".join(f"{i} at {candidates[i].address}" for i in sorted(candidates)) or "none"


def _changes(group: ReplicaGroup | None, change: Change | None) -> tuple[Difference, ...]:
    after = None if change is None else change.after
    if after is None:
        return ()
    return (
        Difference(
            "replicas",
            None if group is None else groups.ids_text(group.replicas.keys()),
            groups.ids_text(after.replicas.keys()),
        ),
        Difference(
            "master epoch",
            None if group is None else str(group.master_epoch),
            str(after.master_epoch),
        ),
        Difference(
            "SyncStateSet",
            None if group is None else groups.ids_text(group.sync_state_set.members),
            groups.ids_text(after.sync_state_set.members),
        ),
    )
