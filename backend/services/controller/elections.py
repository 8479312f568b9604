"""Elect masters: on request of a broker or an operator, or because a master is lost.

An election is one change of one group. If another process was faster, this process finds the new
master and does not change it.
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
    """Hold the evidence of a process that a master is lost, and for how long the process listens.

    A process that began to listen a moment ago has not received heartbeats of all brokers: a living
    master may just not have sent one yet. So during the first lease the process replaces only
    masters whose heartbeats and whose end it saw itself (D28).
    """

    gone_ids: frozenset[int] = frozenset()
    listened_ms: int = 0
    resigned: Resignation | None = None

    def is_enough(self, group: ReplicaGroup, liveness: Liveness) -> bool:
        """Return whether silence of a master is enough to treat it as lost."""
        has_resigned = (
            self.resigned is not None
            and group.master_id is not None
            and self.resigned == Resignation(group.master_id, group.master_epoch)
        )
        if has_resigned or group.is_master_lost or group.master_id in self.gone_ids:
            return True
        return self.missing_ms(liveness) <= 0

    def missing_ms(self, liveness: Liveness) -> int:
        """Return how long the process must still listen before silence is evidence."""
        waits_ms = [report.timeout_ms for report in liveness.reports.values() if report.is_alive]
        return max(waits_ms, default=0) - self.listened_ms


_CERTAIN: Final = Evidence(listened_ms=HEARTBEAT_TIMEOUT_MAX_MS)


@dataclass(frozen=True, slots=True)
class ElectionRequest:
    """Ask for a master: a broker asks for itself, an operator for a broker or for any broker.

    With an expected epoch, the group must still be in this epoch. If an operator replaces a living
    master, the master is asked for a handover first, unless the election is immediate. An operator
    does not need evidence of this process; every other request does.
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

    Of several elections at once one takes effect (Q85).

    Raises:
        BrokerNotRegistered: the group or the broker is unknown. MasterNotAvailable: the controller
        asked, and no replica may become master. ElectionFailed: a broker or an operator asked, and
        no replica may become master. MasterLeaseLive: the current master may still acknowledge, or
        this process has not listened long enough to know. MasterEpochMoved: the group is no longer
        in the expected epoch. BrokerGroupAmbiguous: several clusters have a group of that name.
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
    """Refuse to replace a master that may be alive, and has only sent no heartbeat yet (case A15).

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
    """Elect a new master if the present one is dead, or record that no replica can be elected.

    A group does not change if it never had a master, if its master is alive, or if the evidence is
    not sufficient yet. If the master itself reported that it resigned, its lease ends in the
    statement that elects another master.

    Raises:
        MasterLeaseLive: the current master may still acknowledge; try again after its lease.
        BrokerGroupAmbiguous: several clusters have a group of that name.
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
    """List groups whose master sends no heartbeats while another replica could be elected."""
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
