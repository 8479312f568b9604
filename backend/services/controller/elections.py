"""Elect masters: as a broker or an operator asks, or because a master is gone.

An election is one change of one group. Who loses a race to another process finds the new master
there and leaves it.
"""

from dataclasses import dataclass, replace
from typing import Final

from backend.db import replica_reports
from backend.db.pipeline import pipeline_of
from backend.db.replica_reports import MasterlessGroup
from backend.domain.broker import HEARTBEAT_TIMEOUT_MAX_MS
from backend.domain.controller_figures import ElectionResult
from backend.domain.election import Ballot, Liveness, Resignation, elect_master
from backend.domain.errors import (
    BrokerNotRegistered,
    ElectionFailed,
    MasterLeaseLive,
    MasterNotAvailable,
)
from backend.domain.replica_group import (
    Change,
    ChangeKind,
    ReplicaGroup,
    check_master_epoch,
    lose_master,
)
from backend.services.controller import handovers
from backend.services.controller.group_changes import (
    BrokerGroupName,
    Controller,
    GroupView,
    Guard,
    change_group,
)

MASTERLESS_GROUPS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Evidence:
    """Hold what a process knows of a master's end: what it saw itself, and for how long it listens.

    A process that began to listen a moment ago has not heard everybody: a master that it does not
    hear may only not have spoken again. So within one lease it replaces those alone that it heard,
    and saw going, itself (D28).
    """

    gone_ids: frozenset[int] = frozenset()
    listened_ms: int = 0
    resigned: Resignation | None = None

    def is_enough(self, group: ReplicaGroup, liveness: Liveness) -> bool:
        """Tell whether a group's master may be taken for gone if it is not heard."""
        has_resigned = (
            self.resigned is not None
            and group.master_id is not None
            and self.resigned == Resignation(group.master_id, group.master_epoch)
        )
        if has_resigned or group.is_master_lost or group.master_id in self.gone_ids:
            return True
        return self.missing_ms(liveness) <= 0

    def missing_ms(self, liveness: Liveness) -> int:
        """Tell for how long the process still has to listen before a silence shows anything."""
        waits_ms = [report.timeout_ms for report in liveness.reports.values() if report.is_alive]
        return max(waits_ms, default=0) - self.listened_ms


_CERTAIN: Final = Evidence(listened_ms=HEARTBEAT_TIMEOUT_MAX_MS)


@dataclass(frozen=True, slots=True)
class ElectionRequest:
    """Ask for a master: a broker for itself, an operator for a broker, or nobody for anybody.

    With an epoch expected, only a group that is still in it has an election. A living master that
    an operator has replaced is asked to hand over before, unless it is to go at once. An operator
    decides by more than the evidence of this process; everyone else needs enough of it.
    """

    name: BrokerGroupName
    ballot: Ballot
    cause: str
    expected_epoch: int | None = None
    is_graceful: bool = True
    evidence: Evidence = _CERTAIN


async def elect(
    command: ElectionRequest, controller: Controller, *, guard: Guard | None = None
) -> GroupView:
    """Elect a master; the view holds a change unless the current master stays.

    Raises:
        BrokerNotRegistered: the group or the broker is not known.
        MasterNotAvailable: the controller asked, and nobody may become master.
        ElectionFailed: a broker or an operator asked, and nobody may become master.
        MasterLeaseLive: the current master may still acknowledge, or was not heard yet only because
            this process began to listen a moment ago.
        MasterEpochMoved: the group is no longer in the epoch expected.
        BrokerGroupAmbiguous: several clusters hold a group of that name.
    """
    ballot = replace(command.ballot, allows_unclean=controller.allows_unclean)
    broker_group_name = command.name.broker_group_name
    if ballot.is_designated and command.is_graceful:
        await handovers.ask_for_handover(
            command.name, ballot, controller, expected_epoch=command.expected_epoch
        )

    judged: ReplicaGroup | None = None

    def decide(group: ReplicaGroup | None, liveness: Liveness) -> Change | None:
        nonlocal judged
        judged = group
        if group is None:
            raise BrokerNotRegistered(broker_group_name)
        check_master_epoch(group, command.expected_epoch)
        change = elect_master(group, liveness, ballot)
        if change is not None and not ballot.is_designated:
            _check_evidence(change, liveness, command.evidence)
        return change

    try:
        view = await change_group(
            command.name, decide, controller, cause=command.cause, guard=guard
        )
    except (ElectionFailed, MasterNotAvailable):
        _tally(controller, judged, ElectionResult.NO_MASTER_ELECTED)
        raise
    if view is None:
        raise BrokerNotRegistered(broker_group_name)
    is_unchanged = view.change is None
    _tally(
        controller,
        view.group,
        ElectionResult.KEEP_CURRENT_MASTER if is_unchanged else ElectionResult.NEW_MASTER_ELECTED,
    )
    return view


def _check_evidence(change: Change, liveness: Liveness, evidence: Evidence) -> None:
    """Refuse to replace a master that may live, and was only not heard yet (case A15).

    Raises:
        MasterLeaseLive: this process has not listened for one lease yet.
    """
    assert change.after is not None, "an election leaves its group"
    group, winner_id = change.before, change.after.master_id
    if winner_id is None or group.master_id in (None, winner_id):
        return
    if not evidence.is_enough(group, liveness):
        raise MasterLeaseLive(group.name, winner_id, left_ms=evidence.missing_ms(liveness))


async def replace_lost_master(
    name: BrokerGroupName,
    controller: Controller,
    *,
    cause: str,
    evidence: Evidence = _CERTAIN,
) -> GroupView | None:
    """Find a new master where the present one is dead, or note that there is none to be had.

    Nothing happens in a group that never had a master, or has a living one, or of whose master too
    little is known yet. With the master's own word that it has resigned, its lease ends in the
    statement that elects another.

    Raises:
        MasterLeaseLive: the current master may still acknowledge; try again when it may not.
        BrokerGroupAmbiguous: several clusters hold a group of that name.
    """
    ballot = Ballot(allows_unclean=controller.allows_unclean)

    def decide(group: ReplicaGroup | None, liveness: Liveness) -> Change | None:
        if group is None or not group.master_epoch or not evidence.is_enough(group, liveness):
            return None
        try:
            return elect_master(group, liveness, ballot, resigned=evidence.resigned)
        except MasterNotAvailable:
            return lose_master(group)

    view = await change_group(name, decide, controller, cause=cause)
    if view is not None and view.change is not None:
        is_elected = view.change.kind is ChangeKind.MASTER_ELECTED
        _tally(
            controller,
            view.group,
            ElectionResult.NEW_MASTER_ELECTED if is_elected else ElectionResult.NO_MASTER_ELECTED,
        )
    return view


async def list_masterless(controller: Controller, *, listened_ms: int) -> list[MasterlessGroup]:
    """List groups whose master nobody hears while somebody in them could be elected."""
    return await replica_reports.list_masterless(
        pipeline_of(controller.database),
        heard_by=controller.heartbeat_source.id,
        listened_ms=listened_ms,
        takes_unclean=controller.allows_unclean,
        limit=MASTERLESS_GROUPS_MAX,
    )


def _tally(controller: Controller, group: ReplicaGroup | None, result: ElectionResult) -> None:
    if group is not None:
        controller.elections.note(group.cluster_name, group.name, result)
