"""Elect a master as an operator orders: the winner, the loss, and whether all replicas follow."""

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
from backend.domain.orders.replica_group import ElectMaster, Mode
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.replica_group import UNKNOWN_POSITION, ConfirmedEnd, ReplicaGroup
from backend.operations.actions.replica_groups import AwaitFollowers, Elect
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.operations.planning.master_clients import MasterClients, ask_clients
from backend.operations.planning.replication import check_losses
from backend.operations.planning.writers import WRITER
from backend.services.controller.group_changes import GroupView, find_group

STOCK_NO_CANDIDATE: Final = 2004
STOCK_NOT_THE_WANTED: Final = 2012
LOCKS_LAPSE: Final = (
    "Locks of ordered queues end with the old master; consumers lock again within 20 s"
)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Hold what a winner lacks of the confirmed messages; `missing` is None if unknown."""

    confirmed: ConfirmedEnd
    is_lacking: bool
    missing: int | None

    @property
    def text(self) -> str:
        """Describe it in words."""
        end = f"log position {self.confirmed.position} of epoch {self.confirmed.epoch}"
        if not self.is_lacking:
            return f"nothing: all is confirmed up to {end}"
        amount = "an unknown amount" if self.missing is None else f"{self.missing} bytes"
        # The log is as long or longer, but of an older epoch: both logs have different ends.
        amount = "what the newest epoch wrote" if self.missing == 0 else amount
        return f"{amount} of confirmed log, up to {end}; the number of messages is not known"


@dataclass(frozen=True, slots=True)
class Judged:
    """Hold an election as the controller would decide it now, and what the winner lacks."""

    view: GroupView
    allows_unclean: bool
    election: Election
    is_loss: bool
    shortfall: Shortfall
    behind: int | None

    @property
    def winner_id(self) -> int | None:
        """Name the next master."""
        return self.election.winner_id


async def read_facts(order: ElectMaster, context: OperationContext) -> Facts[Judged]:
    """Predict the election of the controller; brokers are not asked.

    Raises:
        BrokerGroupNotControlled: the controller has no such group.
        BrokerNotRegistered: the named broker is no replica of the group.
    """
    name = groups.checked(order.cluster_name, order.broker_group_name)
    view = await find_group(name, context.controller)
    if view is None:
        raise BrokerGroupNotControlled(order.broker_group_name)
    allows_unclean = context.controller.allows_unclean
    ballot = replace(order.ballot, allows_unclean=allows_unclean)
    election = judge(view.group, view.liveness, ballot)
    winner_id = election.winner_id
    is_loss = (
        winner_id is not None
        and not election.is_unchanged
        and takes_loss(winner_id, view.group, view.liveness, ballot)
    )
    shortfall, behind = _shortfall(view, winner_id), _bytes_behind(view, winner_id)
    return Facts(
        Judged(view, allows_unclean, election, is_loss, shortfall, behind),
        (
            *groups.epochs_of(view.group),
            Precondition("who would become master", str(winner_id or "none")),
            *((Precondition("what it lacks", shortfall.text),) if shortfall.is_lacking else ()),
        ),
        _checks(order, view, election, shortfall, behind),
    )


async def preview(order: ElectMaster, facts: Facts[Judged], context: OperationContext) -> Plan:
    """Describe the next master, the loss, and the clients of the present master."""
    judged = facts.seen
    view, election, winner_id = judged.view, judged.election, judged.winner_id
    shortfall, behind = judged.shortfall, judged.behind
    clients = await _clients(view, election, context)
    return Plan(
        summary=_summary(order, election),
        risk=Risk.LOSS if judged.is_loss else Risk.SERVICE,
        steps=planned_steps(actions(order, judged)),
        changes=_changes(view, election),
        impact=await _impact(order, view, election, clients, context),
        checks=(*facts.checks, *await _check_unreplicated(order, election, context)),
        way_back=_undo(view),
        loss=_loss(view.group, winner_id, shortfall, behind) if judged.is_loss else None,
        facts={
            "allows_unclean": judged.allows_unclean,
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


async def _check_unreplicated(
    order: ElectMaster, election: Election, context: OperationContext
) -> list[Check]:
    """Warn of topics that only the present master has, if another broker becomes master."""
    if election.winner_id is None or election.is_unchanged:
        return []
    return await check_losses(order.cluster_name, order.broker_group_name, context)


def actions(order: ElectMaster, judged: Judged, *, leaves: str | None = None) -> list[Action]:
    """Elect, then wait until all living replicas follow."""
    return [
        Elect(
            order.cluster_name,
            order.broker_group_name,
            order.broker_id,
            is_graceful=order.mode is Mode.GRACEFUL,
            accepts_loss=order.accepts_loss,
            allows_unclean=judged.allows_unclean,
            expected_epoch=judged.view.group.master_epoch,
            winner_id=judged.winner_id,
            leaves=leaves,
        ),
        AwaitFollowers(order.cluster_name, order.broker_group_name),
    ]


KIND: Final = Kind("elect_master", ElectMaster, read_facts, preview, (Elect, AwaitFollowers))


def _summary(order: ElectMaster, election: Election) -> str:
    if election.winner_id is None:
        return f"No replica can become master of {order.broker_group_name}"
    if election.is_unchanged:
        return f"Broker {election.winner_id} is master of {order.broker_group_name} and stays so"
    return f"Broker {election.winner_id} becomes master of {order.broker_group_name}"


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
    """Ask the current master for its clients, unless nothing changes; a dead master has none."""
    master = view.group.master
    if election.winner_id is None or election.is_unchanged or master is None:
        return None
    if master.broker_id not in view.liveness.alive_ids:
        return MasterClients(unknown="it sent no heartbeat")
    return await ask_clients(master.address, context.controller.brokers)


async def _impact(
    order: ElectMaster,
    view: GroupView,
    election: Election,
    clients: MasterClients | None,
    context: OperationContext,
) -> tuple[str, ...]:
    if election.winner_id is None or election.is_unchanged:
        return ()
    name = groups.checked(order.cluster_name, order.broker_group_name)
    count = await groups.count_topics(name, context)
    others = sorted(view.liveness.alive_ids & view.group.replicas.keys() - {election.winner_id})
    topics = f"the {count} topics placed on {name.broker_group_name}"
    set_until = f"The SyncStateSet is {{{election.winner_id}}} until {groups.ids_text(others)} have"
    return (
        f"Sends to {topics} wait or are refused until broker {election.winner_id} serves as master",
        f"{set_until} followed; brokers with minInSyncReplicas above 1 refuse sends until then",
        *((LOCKS_LAPSE,) if clients is None else clients.impact),
        "Clients whose sends are refused continue after their next route update, within 30 s",
    )


def _shortfall(view: GroupView, winner_id: int | None) -> Shortfall:
    confirmed = view.group.confirmed
    if winner_id is None or holds_confirmed(winner_id, view.group, view.liveness):
        return Shortfall(confirmed, is_lacking=False, missing=0 if confirmed.is_known else None)
    report = view.liveness.reports.get(winner_id)
    missing = None if report is None else confirmed.missing_bytes(report.max_offset)
    return Shortfall(confirmed, is_lacking=True, missing=missing)


def _why_no_candidate(view: GroupView, election: Election) -> str:
    why = f"no replica can become master of {view.group.name}: {election.explanation}"
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
    shortfall: Shortfall,
    behind: int | None,
) -> tuple[Check, ...]:
    group, winner_id = view.group, election.winner_id
    if winner_id is None:
        code = STOCK_NO_CANDIDATE if order.broker_id is None else STOCK_NOT_THE_WANTED
        why = _why_no_candidate(view, election)
        return (Check("a replica can win", CheckVerdict.BLOCK, why, code),)
    if election.is_unchanged:
        why = f"broker {winner_id} is master and alive; nothing would change"
        same = Check("something changes", CheckVerdict.WARN, why)
        unwritten = warn_of_no_writer(group.name, view.liveness, winner_id)
        return (same,) if unwritten is None else (same, Check(WRITER, CheckVerdict.WARN, unwritten))
    checks = [Check("a replica can win", CheckVerdict.PASS, f"broker {winner_id} may")]
    unwritten = warn_of_no_writer(group.name, view.liveness, winner_id)
    if unwritten is not None:
        checks.append(Check(WRITER, CheckVerdict.WARN, unwritten))
    left_ms = view.liveness.lease_left_ms
    if left_ms > 0 and must_await_lease(group, winner_id):
        is_alive = group.master_id in view.liveness.alive_ids
        why = f"the master of epoch {group.master_epoch} may acknowledge for {left_ms} ms more" + (
            ", and renews its lease: stop it first" if is_alive else "; the operation waits for it"
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
        why = f"the winner's log was {behind} bytes behind the master's in their last reports"
        checks.append(Check("log", CheckVerdict.WARN if behind else CheckVerdict.PASS, why))
    return tuple(checks)


def _undo(view: GroupView) -> str:
    if view.group.master_id is None:
        return no_undo("the group has no master now that could be elected again")
    return (
        "Elect the current master again once it has followed and is in the SyncStateSet; what was"
        " cut from its log is not restored"
    )


def _loss(
    group: ReplicaGroup, winner_id: int | None, shortfall: Shortfall, behind: int | None
) -> str:
    if winner_id == group.master_id and not group.is_master_lost:
        return f"what other replicas keep and broker {winner_id} lacks: an unknown amount"
    if shortfall.is_lacking:
        return f"what broker {winner_id} lacks: {shortfall.text}"
    amount = "an unknown amount" if behind is None else f"up to {behind} bytes of log"
    return f"what broker {winner_id} lacks: {amount}"


def _bytes_behind(view: GroupView, winner_id: int | None) -> int | None:
    reports = view.liveness.reports
    master_id = view.group.master_id
    if winner_id is None or master_id is None:
        return None
    ends = [
        reports[i].max_offset if i in reports else UNKNOWN_POSITION for i in (master_id, winner_id)
    ]
    return None if UNKNOWN_POSITION in ends else max(0, ends[0] - ends[1])
