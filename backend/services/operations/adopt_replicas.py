"""Take brokers in again whose group the control plane lost, as an operator orders (D6)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from backend.domain.adoption import Candidate
from backend.domain.adoption import adopt_replicas as decide_adoption
from backend.domain.errors import AdoptionRefused
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.replica_group import AdoptReplicas
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
    no_way_back,
)
from backend.domain.replica_group import Change, LeasePolicy, ReplicaGroup
from backend.services import adoptions
from backend.services.group_changes import find_group
from backend.services.operations import groups
from backend.services.operations.kind import Kind, OperationContext, StepRun, StepWork

MASTER_PATIENCE_S: Final = 15.0
STOCK_REFUSED: Final = 2005


async def plan(order: AdoptReplicas, context: OperationContext) -> Plan:
    """Say who would be adopted, and what speaks against it."""
    name = groups.checked(order.cluster_name, order.group_name)
    view = await find_group(name, context.controller)
    group = None if view is None else view.group
    candidates = await adoptions.find_candidates(name, context.controller)
    empty = await adoptions.begin_again(name, context.controller)
    change, check = _decide(order, group, empty, candidates)
    ids = groups.ids_text(order.broker_ids)
    is_lost = group is None
    return Plan(
        summary=f"Brokers {ids} are adopted into {order.group_name}",
        risk=Risk.LOSS if order.accepts_loss else Risk.SERVICE,
        steps=(
            PlannedStep("adopt", f"Take in {ids} under the ids they claim"),
            *(
                (PlannedStep("elect", "Wait until the group has elected its master"),)
                if is_lost
                else ()
            ),
        ),
        preconditions=(
            *groups.epochs_of(group),
            Precondition("brokers that wait for adoption", _waiting(candidates)),
        ),
        changes=_changes(group, change),
        impact=("The group's topics are served again once a master is elected",)
        if is_lost
        else ("The brokers follow the master, which may cut their logs",),
        checks=(check,),
        way_back=no_way_back("forget the group, and its brokers wait for adoption again"),
        loss=_loss(empty, change) if order.accepts_loss else None,
        facts={"lease_policy": context.controller.lease_policy, "is_lost": is_lost},
    )


def steps(
    order: AdoptReplicas, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Adopt, in one change of the group, and wait for the master of one that was lost."""
    name = groups.checked(order.cluster_name, order.group_name)
    epoch = groups.planned_epoch(operation.plan.preconditions)
    policy = LeasePolicy(operation.plan.facts["lease_policy"])
    controller = replace(context.controller, lease_policy=policy)

    async def read() -> Value:
        return await groups.read_value(name, context)

    async def adopt(run: StepRun) -> Value:
        made = await groups.find_effect(run, name, context)
        if made is not None:
            await adoptions.remove_candidates(name, order.broker_ids, controller)
            return made
        command = adoptions.AdoptReplicas(name, order.order, run.cause, expected_epoch=epoch)
        view = await adoptions.adopt(command, controller, guard=run.guard)
        return groups.value_of(view.group)

    async def elect(_run: StepRun) -> Value:
        view = await groups.await_view(
            name,
            context,
            lambda seen: seen is not None and seen.group.master_id is not None,
            patience_s=MASTER_PATIENCE_S,
        )
        return groups.value_of(None if view is None else view.group)

    works = [StepWork(read, adopt), StepWork(read, elect)]
    return works[: len(operation.steps)]


async def verify(
    order: AdoptReplicas, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back that all are replicas, and that there is a master."""
    name = groups.checked(order.cluster_name, order.group_name)
    view = await find_group(name, context.controller)
    held = set() if view is None else set(view.group.replicas)
    wanted = set(order.broker_ids)
    found = [groups.compare("adopted", groups.ids_text(wanted), groups.ids_text(wanted & held))]
    if operation.plan.facts["is_lost"]:
        master_id = None if view is None else view.group.master_id
        has_master = "nobody" if master_id is None else "elected"
        found.append(groups.compare("master", "elected", has_master))
    return found


def undo(_order: AdoptReplicas, _operation: Operation) -> AdoptReplicas:
    """Refuse: a group that has elected has moved on.

    Raises:
        NotUndoable: always.
    """
    raise NotUndoable(
        "the brokers have begun a new epoch; forget the group and adopt it otherwise instead"
    )


KIND: Final = Kind("adopt_replicas", AdoptReplicas, plan, steps, verify, undo)


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
        return None, Check("what is known suffices", CheckVerdict.BLOCK, str(error), STOCK_REFUSED)
    return change, Check("what is known suffices", CheckVerdict.PASS, "nothing speaks against it")


def _loss(empty: ReplicaGroup, change: Change | None) -> str:
    """Name what is lost, in bytes where that is known."""
    text = "acknowledged messages that nobody of those adopted holds"
    lost, after = empty.confirmed, None if change is None else change.after
    if not lost.is_known or after is None or after.confirmed == lost:
        return text
    missing = lost.missing_bytes(after.confirmed.position)
    amount = "an unknown amount" if missing is None else f"{missing} bytes"
    return f"{text}: {amount} before log position {lost.position} of epoch {lost.epoch}"


def _waiting(candidates: Mapping[int, Candidate]) -> str:
    return ", ".join(f"{i} at {candidates[i].address}" for i in sorted(candidates)) or "nobody"


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
