"""Elect a master as an operator wants: who would win, what it costs, and whether all follow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from backend.domain.election import (
    Election,
    Verdict,
    holds_confirmed,
    judge,
    must_await_lease,
    takes_loss,
    warn_of_no_writer,
)
from backend.domain.errors import BrokerGroupNotControlled
from backend.domain.operation import Operation, StepState, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.replica_group import ElectMaster, Mode
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
from backend.domain.replica_group import UNKNOWN_POSITION, ConfirmedEnd, ReplicaGroup
from backend.services import elections
from backend.services.group_changes import Controller, GroupName, GroupView, find_group
from backend.services.operations import groups
from backend.services.operations.kind import Kind, OperationContext, StepRun, StepWork
from backend.services.operations.master_clients import MasterClients, ask_clients
from backend.services.operations.writers import WRITER

FOLLOW_PATIENCE_S: Final = 15.0
STOCK_NOBODY: Final = 2004
STOCK_NOT_THE_WANTED: Final = 2012
LOCKS_LAPSE: Final = (
    "Locks of ordered queues lapse with the old master; consumers lock anew within 20 s"
)


async def plan(order: ElectMaster, context: OperationContext) -> Plan:
    """Judge the election as the controller would now.

    Raises:
        BrokerGroupNotControlled: there is no such group.
        BrokerNotRegistered: the broker named is no replica of it.
    """
    name = groups.checked(order.cluster_name, order.group_name)
    view = await find_group(name, context.controller)
    if view is None:
        raise BrokerGroupNotControlled(order.group_name)
    allows_unclean = context.controller.allows_unclean
    ballot = replace(order.ballot, allows_unclean=allows_unclean)
    election = judge(view.group, view.liveness, ballot)
    winner_id = election.winner_id
    is_loss = (
        winner_id is not None
        and not election.is_unchanged
        and takes_loss(winner_id, view.group, view.liveness, ballot)
    )
    shortfall = _shortfall(view, winner_id)
    behind = _bytes_behind(view, winner_id)
    clients = await _clients(view, election, context)
    risk = Risk.LOSS if is_loss else Risk.SERVICE
    return Plan(
        summary=_summary(order, election),
        risk=risk,
        steps=_planned_steps(order, election),
        preconditions=(
            *groups.epochs_of(view.group),
            Precondition("who would become master", str(winner_id or "nobody")),
            *((Precondition("what it lacks", shortfall.text),) if shortfall.is_lacking else ()),
        ),
        changes=_changes(view, election),
        impact=await _impact(name, view, election, clients, context),
        checks=_checks(order, view, election, shortfall, behind),
        way_back=_way_back(view),
        loss=_loss(view.group, winner_id, shortfall, behind) if is_loss else None,
        facts={
            "allows_unclean": allows_unclean,
            "winner_id": winner_id,
            "is_unchanged": election.is_unchanged,
            "bytes_behind": None if behind is None else str(behind),
            "bytes_lost": None if shortfall.missing is None else str(shortfall.missing),
            "candidates": [
                {"broker_id": one.broker_id, "verdict": one.verdict, "reason": one.reason}
                for one in election.candidates
            ],
            **({} if clients is None else clients.facts),
        },
    )


def steps(
    order: ElectMaster, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Elect, then wait until all who are alive follow."""
    name = groups.checked(order.cluster_name, order.group_name)
    epoch = groups.planned_epoch(operation.plan.preconditions)
    controller = _controller(operation, context)

    async def read() -> Value:
        return await groups.read_value(name, context)

    async def elect(run: StepRun) -> Value:
        made = await groups.find_effect(run, name, context)
        if made is not None:
            return made
        command = elections.ElectMaster(
            name,
            order.ballot,
            run.cause,
            expected_epoch=epoch,
            is_graceful=order.mode is Mode.GRACEFUL,
        )
        view = await elections.elect(command, controller, guard=run.guard)
        return groups.value_of(view.group)

    async def follow(_run: StepRun) -> Value:
        view = await groups.await_view(
            name, context, lambda seen: not _late(seen), patience_s=FOLLOW_PATIENCE_S
        )
        return groups.value_of(None if view is None else view.group)

    return [StepWork(read, elect), StepWork(read, follow)]


async def verify(
    _order: ElectMaster, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back who is master, in which epoch, and who follows."""
    name = GroupName(operation.target, operation.cluster_name)
    made = operation.steps[0].after or {}
    view = await find_group(name, context.controller)
    if view is None:
        return [groups.compare("group", operation.target, "gone")]
    group = view.group
    followers = [
        groups.compare(f"epoch of broker {broker_id}", group.master_epoch, epoch)
        for broker_id, epoch in _told_epochs(view).items()
    ]
    return [
        groups.compare("master", made.get("master_id"), group.master_id or "nobody"),
        groups.compare("master epoch", made.get("master_epoch"), group.master_epoch),
        *followers,
    ]


def undo(order: ElectMaster, operation: Operation) -> ElectMaster:
    """Elect who was master before.

    Raises:
        NotUndoable: nobody was, or nobody else is now.
    """
    step = operation.steps[0]
    if step.state is not StepState.DONE or step.before is None or step.after is None:
        raise NotUndoable("no master was elected")
    former_id = step.before["master_id"]
    if former_id is None:
        raise NotUndoable("the group had no master before")
    if step.before["master_epoch"] == step.after["master_epoch"]:
        raise NotUndoable("the master stayed")
    return replace(order, broker_id=former_id, mode=Mode.GRACEFUL, accepts_loss=False)


KIND: Final = Kind("elect_master", ElectMaster, plan, steps, verify, undo)


def _controller(operation: Operation, context: OperationContext) -> Controller:
    # What the plan was judged by, which this process may have been told otherwise.
    return replace(context.controller, allows_unclean=bool(operation.plan.facts["allows_unclean"]))


def _summary(order: ElectMaster, election: Election) -> str:
    if election.winner_id is None:
        return f"Nobody could become master of {order.group_name}"
    if election.is_unchanged:
        return f"Broker {election.winner_id} is master of {order.group_name} and stays so"
    return f"Broker {election.winner_id} becomes master of {order.group_name}"


def _planned_steps(order: ElectMaster, election: Election) -> tuple[PlannedStep, ...]:
    is_asked = order.mode is Mode.GRACEFUL and order.broker_id is not None
    # A plan that nobody would win is blocked; its steps say what was asked for.
    elected_id = order.broker_id if election.winner_id is None else election.winner_id
    winner = "a master" if elected_id is None else f"broker {elected_id}"
    asked = "Ask the present master to hand over, then elect" if is_asked else "Elect"
    return (
        PlannedStep("elect", f"{asked} {winner}"),
        PlannedStep("follow", "Wait until every living replica is in the new epoch"),
    )


def _changes(view: GroupView, election: Election) -> tuple[Difference, ...]:
    group, winner_id = view.group, election.winner_id
    if winner_id is None or election.is_unchanged:
        return ()
    held = group.sync_state_set
    return (
        Difference("master", str(group.master_id or "none"), str(winner_id)),
        Difference("master epoch", str(group.master_epoch), str(group.master_epoch + 1)),
        Difference("SyncStateSet", groups.ids_text(held.members), groups.ids_text([winner_id])),
        Difference("SyncStateSet epoch", str(held.epoch), str(held.epoch + 1)),
    )


async def _clients(
    view: GroupView, election: Election, context: OperationContext
) -> MasterClients | None:
    """Ask the present master who feels it, unless nothing changes; the dead have no clients."""
    master = view.group.master
    if election.winner_id is None or election.is_unchanged or master is None:
        return None
    if master.broker_id not in view.liveness.alive_ids:
        return MasterClients(unknown="it is not heard")
    return await ask_clients(master.address, context.controller.brokers)


async def _impact(
    name: GroupName,
    view: GroupView,
    election: Election,
    clients: MasterClients | None,
    context: OperationContext,
) -> tuple[str, ...]:
    if election.winner_id is None or election.is_unchanged:
        return ()
    count = await groups.count_topics(name, context)
    others = sorted(view.liveness.alive_ids & view.group.replicas.keys() - {election.winner_id})
    topics = f"the {count} topics placed on {name.group_name}"
    set_until = f"The SyncStateSet is {{{election.winner_id}}} until {groups.ids_text(others)} have"
    return (
        f"Sends to {topics} wait or are refused until broker {election.winner_id} serves as master",
        f"{set_until} followed; brokers with minInSyncReplicas above 1 refuse sends until then",
        *((LOCKS_LAPSE,) if clients is None else clients.impact),
        "Clients whose sends are refused go on with their next look at the route, within 30 s",
    )


@dataclass(frozen=True, slots=True)
class _Shortfall:
    """Hold what a winner lacks of the confirmed messages; `missing` is None where unknown."""

    confirmed: ConfirmedEnd
    is_lacking: bool
    missing: int | None

    @property
    def text(self) -> str:
        """Say it in words."""
        end = f"log position {self.confirmed.position} of epoch {self.confirmed.epoch}"
        if not self.is_lacking:
            return f"nothing: all is confirmed up to {end}"
        amount = "an unknown amount" if self.missing is None else f"{self.missing} bytes"
        # Equal or longer, and yet of an older epoch: both logs continue differently.
        amount = "what the newest epoch wrote" if self.missing == 0 else amount
        return f"{amount} of confirmed log, up to {end}; the number of messages is not known"


def _shortfall(view: GroupView, winner_id: int | None) -> _Shortfall:
    confirmed = view.group.confirmed
    if winner_id is None or holds_confirmed(winner_id, view.group, view.liveness):
        return _Shortfall(confirmed, is_lacking=False, missing=0 if confirmed.is_known else None)
    told = view.liveness.sightings.get(winner_id)
    missing = None if told is None else confirmed.missing_bytes(told.max_offset)
    return _Shortfall(confirmed, is_lacking=True, missing=missing)


def _why_nobody(view: GroupView, election: Election) -> str:
    why = f"nobody may become master of {view.group.name}: {election.explanation}"
    lacking = [one for one in election.candidates if one.verdict is Verdict.LACKS_CONFIRMED]
    if not lacking:
        return why
    amounts = "; ".join(
        f"broker {one.broker_id} lacks {_shortfall(view, one.broker_id).text}" for one in lacking
    )
    return (
        f"{why}. {amounts}. Start a broker that holds all, or accept the loss: `regent controller"
        f" elect {view.group.name} --accept-loss`"
    )


def _checks(
    order: ElectMaster,
    view: GroupView,
    election: Election,
    shortfall: _Shortfall,
    behind: int | None,
) -> tuple[Check, ...]:
    group, winner_id = view.group, election.winner_id
    if winner_id is None:
        code = STOCK_NOBODY if order.broker_id is None else STOCK_NOT_THE_WANTED
        why = _why_nobody(view, election)
        return (Check("somebody may win", CheckVerdict.BLOCK, why, code),)
    if election.is_unchanged:
        why = f"broker {winner_id} is master and alive; nothing would change"
        same = Check("something changes", CheckVerdict.WARN, why)
        unwritten = warn_of_no_writer(group.name, view.liveness, winner_id)
        return (same,) if unwritten is None else (same, Check(WRITER, CheckVerdict.WARN, unwritten))
    checks = [Check("somebody may win", CheckVerdict.PASS, f"broker {winner_id} may")]
    unwritten = warn_of_no_writer(group.name, view.liveness, winner_id)
    if unwritten is not None:
        checks.append(Check(WRITER, CheckVerdict.WARN, unwritten))
    left_ms = view.liveness.lease_left_ms
    if left_ms > 0 and must_await_lease(group, winner_id):
        is_alive = group.master_id in view.liveness.alive_ids
        why = f"the master of epoch {group.master_epoch} may acknowledge for {left_ms} ms more" + (
            ", and renews that while it lives: stop it first" if is_alive else "; it is awaited"
        )
        verdict = CheckVerdict.BLOCK if is_alive else CheckVerdict.WARN
        checks.append(Check("lease", verdict, why, STOCK_NOT_THE_WANTED))
    if shortfall.is_lacking:
        why = f"the winner lacks {shortfall.text}"
        checks.append(Check("acknowledged messages", CheckVerdict.WARN, why))
    elif winner_id in group.sync_state_set.members:
        why = "the winner is in the SyncStateSet and holds all that was acknowledged"
        checks.append(Check("acknowledged messages", CheckVerdict.PASS, why))
    else:
        why = "the winner is outside the SyncStateSet and may lack acknowledged messages"
        checks.append(Check("acknowledged messages", CheckVerdict.WARN, why))
    if behind is None:
        why = "how far the winner's log is behind the master's is not known"
        checks.append(Check("log", CheckVerdict.WARN, why))
    else:
        why = f"the winner's log was {behind} bytes behind the master's when they last told"
        checks.append(Check("log", CheckVerdict.WARN if behind else CheckVerdict.PASS, why))
    return tuple(checks)


def _way_back(view: GroupView) -> str:
    if view.group.master_id is None:
        return no_way_back("the group has no master now that could be elected again")
    return (
        "Elect the present master again once it has followed and is in the SyncStateSet; what was"
        " cut from its log is not restored"
    )


def _loss(
    group: ReplicaGroup, winner_id: int | None, shortfall: _Shortfall, behind: int | None
) -> str:
    if winner_id == group.master_id and not group.is_master_lost:
        return f"what other replicas keep and broker {winner_id} lacks: an unknown amount"
    if shortfall.is_lacking:
        return f"what broker {winner_id} lacks: {shortfall.text}"
    amount = "an unknown amount" if behind is None else f"up to {behind} bytes of log"
    return f"what broker {winner_id} lacks: {amount}"


def _bytes_behind(view: GroupView, winner_id: int | None) -> int | None:
    sightings = view.liveness.sightings
    master_id = view.group.master_id
    if winner_id is None or master_id is None:
        return None
    ends = [
        sightings[i].max_offset if i in sightings else UNKNOWN_POSITION
        for i in (master_id, winner_id)
    ]
    return None if UNKNOWN_POSITION in ends else max(0, ends[0] - ends[1])


def _told_epochs(view: GroupView) -> dict[int, int | None]:
    """Return the epoch that each living replica told last; None is one that told none."""
    told: dict[int, int | None] = {}
    for broker_id in sorted(view.liveness.alive_ids & view.group.replicas.keys()):
        epoch = view.liveness.sightings[broker_id].epoch
        told[broker_id] = None if epoch == UNKNOWN_POSITION else epoch
    return told


def _late(view: GroupView | None) -> bool:
    if view is None:
        return False
    if view.group.master_id not in view.liveness.alive_ids:
        return True
    return any(epoch != view.group.master_epoch for epoch in _told_epochs(view).values())
