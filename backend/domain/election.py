"""Decide which replica becomes master of a broker group, and why (control-plane.md 2.4).

One function finds the winner for the election and for its explanation, so both always agree.
Offsets are compared in full width.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from operator import attrgetter
from typing import Final

from backend.domain.broker_name import BrokerName
from backend.domain.errors import (
    BrokerNotRegistered,
    ElectionFailed,
    MasterLeaseLive,
    MasterNotAvailable,
)
from backend.domain.replica_group import (
    NEVER_ELECTED,
    UNKNOWN_LIFE,
    UNKNOWN_POSITION,
    Change,
    ChangeKind,
    ConfirmedEnd,
    LeasePolicy,
    ReplicaGroup,
)

PRIORITY_LOWEST: Final = 2**31 - 1


class Verdict(StrEnum):
    """Say what an election decides about a replica."""

    WINS = "wins"
    STAYS = "stays"
    NOT_ALIVE = "not_alive"
    LACKS_CONFIRMED = "lacks_confirmed"
    UNVERIFIED = "unverified"
    NOT_IN_SYNC = "not_in_sync"
    NOT_DESIGNATED = "not_designated"
    MASTER_STAYS = "master_stays"
    ASKED_LATER = "asked_later"
    LOWER_EPOCH = "lower_epoch"
    LOWER_OFFSET = "lower_offset"
    CORDONED = "cordoned"
    NOT_PREFERRED = "not_preferred"
    LOWER_PRIORITY = "lower_priority"
    HIGHER_ID = "higher_id"


REASONS: Final[Mapping[Verdict, str]] = {
    Verdict.WINS: "would become master",
    Verdict.STAYS: "is master and stays master",
    Verdict.NOT_ALIVE: "is not alive",
    Verdict.LACKS_CONFIRMED: "lacks messages that were confirmed to the group",
    Verdict.UNVERIFIED: "stopped uncleanly and has not verified its log since",
    Verdict.NOT_IN_SYNC: "is outside the SyncStateSet and may lack acknowledged messages",
    Verdict.NOT_DESIGNATED: "is not the replica that the operator named",
    Verdict.MASTER_STAYS: "can become master, but the current master is alive",
    Verdict.ASKED_LATER: "was not the first to ask for election in a group that never had a master",
    Verdict.LOWER_EPOCH: "has a log of an older epoch",
    Verdict.LOWER_OFFSET: "has a shorter log",
    Verdict.CORDONED: "is cordoned, and the winner, who is not, lacks nothing acknowledged",
    Verdict.NOT_PREFERRED: "has a log as long as the winner's, and operators prefer the winner",
    Verdict.LOWER_PRIORITY: "has the lower priority (the greater number)",
    Verdict.HIGHER_ID: "equals the winner, who has the smaller id",
}


@dataclass(frozen=True, slots=True)
class ReplicaReport:
    """Hold the last report of a replica, and its age by the clock of the controller (D3)."""

    age_ms: int
    timeout_ms: int
    epoch: int = UNKNOWN_POSITION
    max_offset: int = UNKNOWN_POSITION
    confirm_offset: int = UNKNOWN_POSITION
    priority: int = PRIORITY_LOWEST
    # False from an unclean stop until the log is checked against the epoch list (D11).
    is_verified: bool = True
    # Whether an operator has removed its write permission, so that routes avoid it.
    is_cordoned: bool = False
    # Whether it only copies the log, and is no member of the SyncStateSet: always, or until it has
    # the older segments of the log (ADR 25).
    is_learner: bool = False
    # The process of the broker: a random number from its start.
    life: int = UNKNOWN_LIFE
    # The epoch of the last byte before its confirmed position.
    confirm_epoch: int = UNKNOWN_POSITION
    # The position where it would have to truncate its log to follow its master. It has confirmed
    # messages after this position, so it keeps its log and does not follow (D27).
    refused_cut: int = UNKNOWN_POSITION
    # Additional timeout, for the case that the process that receives its heartbeats is paused.
    grace_ms: int = 0

    def aged(self, age_ms: int) -> "ReplicaReport":
        """Return the same report with another age; every judgement calls this for every replica."""
        return ReplicaReport(age_ms, *_all_but_age(self))

    @property
    def is_alive(self) -> bool:
        """Return whether the last heartbeat is within the timeout."""
        return self.age_ms <= self.timeout_ms + self.grace_ms

    @property
    def may_lack_older(self) -> bool:
        """Return whether older segments of its log may be missing, whatever the end of its log is.

        A new member is a learner, and not verified, until it has them (ADR 25).
        """
        return self.is_learner and not self.is_verified


REPORTED: Final = tuple(
    one.name for one in fields(ReplicaReport) if one.name not in {"age_ms", "grace_ms"}
)
"""The fields that the replica itself reports. The SQL of reports is derived from these names."""

# Faster than `dataclasses.replace`.
_all_but_age = attrgetter(*(one.name for one in fields(ReplicaReport)[1:]))


@dataclass(frozen=True, slots=True)
class Liveness:
    """Hold the reports of the replicas, and the rest of the lease of the master.

    `silences_ms` is the age of the last heartbeats of replicas that have left. Elections do not use
    it.
    """

    reports: Mapping[int, ReplicaReport] = field(default_factory=dict)
    lease_left_ms: int = 0
    silences_ms: Mapping[int, int] = field(default_factory=dict)

    @property
    def alive_ids(self) -> frozenset[int]:
        """Return the ids of the living replicas."""
        return frozenset(i for i, report in self.reports.items() if report.is_alive)

    @property
    def lives(self) -> Mapping[int, int]:
        """Return the processes of the living replicas."""
        return {i: one.life for i, one in self.reports.items() if one.is_alive}


@dataclass(frozen=True, slots=True)
class Ballot:
    """Hold the request of an election: by a broker, by an operator, or by the controller.

    `allows_unclean` is the setting that accepts losses in general. `accepts_loss` accepts a loss in
    this one election.
    """

    broker_id: int | None = None
    is_designated: bool = False
    allows_unclean: bool = False
    accepts_loss: bool = False

    @property
    def designated_id(self) -> int | None:
        """Return the broker that an operator has chosen."""
        return self.broker_id if self.is_designated else None

    @property
    def takes_loss(self) -> bool:
        """Return whether a replica without all acknowledged messages may win if no other can."""
        return self.allows_unclean or self.accepts_loss


@dataclass(frozen=True, slots=True)
class Resignation:
    """Hold the statement of a master that it will never again acknowledge in an epoch."""

    broker_id: int
    master_epoch: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """Hold the verdict of an election about one replica."""

    broker_id: int
    verdict: Verdict

    @property
    def reason(self) -> str:
        """Return the verdict in words."""
        return REASONS[self.verdict]


@dataclass(frozen=True, slots=True)
class Election:
    """Hold the result: the winner, and the verdict about every replica."""

    winner_id: int | None
    candidates: tuple[Candidate, ...]

    @property
    def is_unchanged(self) -> bool:
        """Return whether the current master stays."""
        return any(candidate.verdict is Verdict.STAYS for candidate in self.candidates)

    @property
    def explanation(self) -> str:
        """Return the verdicts about all replicas as one text."""
        return "; ".join(f"{c.broker_id} {c.reason}" for c in self.candidates) or "no replicas"


def judge(group: ReplicaGroup, liveness: Liveness, ballot: Ballot) -> Election:
    """Find the next master now, and why each other replica loses.

    Raises:
        BrokerNotRegistered: the broker that asks, or the chosen broker, is no replica of the group.
    """
    winner_id, pool = _find_winner(group, liveness, ballot)
    candidates = tuple(
        Candidate(broker_id, _verdict(broker_id, winner_id, group, liveness, ballot, pool))
        for broker_id in sorted(group.replicas)
    )
    return Election(winner_id, candidates)


def elect_master(
    group: ReplicaGroup,
    liveness: Liveness,
    ballot: Ballot,
    *,
    resigned: Resignation | None = None,
) -> Change | None:
    """Make the winner master in a new epoch; nothing changes if the master stays.

    The lease of a master that has resigned from the present epoch has no effect: it ends with this
    election.

    Raises:
        BrokerNotRegistered: the broker that asks, or the chosen broker, is no replica of the group.
        MasterNotAvailable: the controller asked, and no replica may become master. ElectionFailed:
        a broker or an operator asked, and no replica may become master. MasterLeaseLive: the winner
        must wait until the lease of the current master ends.
    """
    winner_id, _ = _find_winner(group, liveness, ballot)
    if winner_id is None:
        refusal = MasterNotAvailable if ballot.broker_id is None else ElectionFailed
        raise refusal(group.name, judge(group, liveness, ballot).explanation)
    if _stays(winner_id, group, ballot):
        return None
    is_resigned = resigned is not None and resigned == _office(group)
    awaits_lease = must_await_lease(group, winner_id) and not is_resigned
    if liveness.lease_left_ms > 0 and awaits_lease:
        raise MasterLeaseLive(group.name, winner_id, left_ms=liveness.lease_left_ms)
    return _elected(winner_id, group, liveness, ballot, awaits_lease=awaits_lease)


def _elected(
    winner_id: int,
    group: ReplicaGroup,
    liveness: Liveness,
    ballot: Ballot,
    *,
    awaits_lease: bool,
) -> Change:
    """Make the change; with an accepted loss the confirmed position becomes that of the winner."""
    report = liveness.reports.get(winner_id)
    epoch, end = (UNKNOWN_POSITION,) * 2 if report is None else (report.epoch, report.max_offset)
    is_held = holds_confirmed(winner_id, group, liveness)
    is_loss_taken = takes_loss(winner_id, group, liveness, ballot)
    after = replace(
        group,
        master_id=winner_id,
        master_epoch=group.master_epoch + 1,
        sync_state_set=replace(group.sync_state_set, lives={}).with_members(
            [winner_id], liveness.lives
        ),
        is_master_lost=False,
        confirmed=group.confirmed if is_held else ConfirmedEnd(epoch, end),
        loss_epoch=group.master_epoch + 1 if is_loss_taken else group.loss_epoch,
    )
    is_checked = group.master_epoch != NEVER_ELECTED and not is_loss_taken
    is_vouched_for = report is not None and group.sync_state_set.vouches_for(winner_id, report.life)
    return Change(
        ChangeKind.MASTER_ELECTED,
        group,
        after,
        awaits_lease,
        winner_log=(epoch, end) if is_checked and not is_vouched_for else None,
        resets_confirmed=is_loss_taken,
        warning=warn_of_no_writer(group.name, liveness, winner_id),
    )


def holds_confirmed(broker_id: int, group: ReplicaGroup, liveness: Liveness) -> bool:
    """Return whether a replica has all data that masters of the group reported as confirmed (D27).

    Its last report may be older than that of its master. A member that still runs in the process in
    which it joined the set has lost nothing since then. Its master confirmed nothing without it.
    """
    report = liveness.reports.get(broker_id)
    if not group.confirmed.is_known:
        return True
    if report is None:
        return False
    is_vouched_for = group.sync_state_set.vouches_for(broker_id, report.life)
    return is_vouched_for or group.confirmed.is_held_by(report.epoch, report.max_offset)


def takes_loss(broker_id: int, group: ReplicaGroup, liveness: Liveness, ballot: Ballot) -> bool:
    """Return whether this winner may lack acknowledged messages, and the loss is accepted."""
    if group.master_epoch == NEVER_ELECTED:
        return False
    is_member = broker_id in group.sync_state_set.members
    is_whole = is_member and holds_confirmed(broker_id, group, liveness)
    return not is_whole or _is_reconfirmed(broker_id, group, ballot)


def warn_of_no_writer(
    broker_group_name: str, liveness: Liveness, winner_id: int | None
) -> str | None:
    """Return a warning if the winner is cordoned, so that the group takes no writes; else None."""
    if winner_id is None:
        return None
    report = liveness.reports.get(winner_id)
    if report is None or not report.is_cordoned:
        return None
    winner = BrokerName(broker_group_name, winner_id)
    return (
        f"{broker_group_name} has no writer: its master {winner} is cordoned; uncordon it:"
        f" `regent broker uncordon {broker_group_name} --broker 0`"
    )


def must_await_lease(group: ReplicaGroup, winner_id: int) -> bool:
    """Return whether the former master could still acknowledge without knowing the new master.

    Under the quorum policy it could not if the winner is a member of its set: the winner refuses
    older epochs, and a set of one acknowledges only under a lease (D9). A forgotten master
    acknowledges until its lease ends, like any other.
    """
    if group.master_epoch == NEVER_ELECTED or winner_id == group.master_id:
        return False
    is_in_set = winner_id in group.sync_state_set.members
    return group.lease_policy is LeasePolicy.STRICT or not is_in_set


def _office(group: ReplicaGroup) -> Resignation | None:
    """Return the master and the epoch that a resignation would name."""
    return None if group.master_id is None else Resignation(group.master_id, group.master_epoch)


def _find_winner(
    group: ReplicaGroup, liveness: Liveness, ballot: Ballot
) -> tuple[int | None, Collection[int]]:
    """Find the winner, if there is one, and the pool of candidates."""
    if ballot.broker_id is not None and ballot.broker_id not in group.replicas:
        raise BrokerNotRegistered(group.name, ballot.broker_id)
    members = group.sync_state_set.members
    if group.master_epoch == NEVER_ELECTED and ballot.broker_id is not None:
        return ballot.broker_id, members
    winner_id = _choose(group, liveness, ballot, members)
    if winner_id is not None or not ballot.takes_loss:
        return winner_id, members
    # A replica that lacks less comes first.
    for is_waived in (False, True):
        winner_id = _choose(group, liveness, ballot, group.replicas, is_waived=is_waived)
        if winner_id is not None:
            break
    return winner_id, group.replicas


def _stays(winner_id: int, group: ReplicaGroup, ballot: Ballot) -> bool:
    """Return whether the current master continues in its epoch."""
    is_kept = winner_id == group.master_id and not group.is_master_lost
    return is_kept and not _is_reconfirmed(winner_id, group, ballot)


def _is_reconfirmed(winner_id: int, group: ReplicaGroup, ballot: Ballot) -> bool:
    """Return whether an operator accepts a loss for the current master, chosen by name.

    This starts a new epoch, in which replicas truncate the data that the master lacks.
    """
    return ballot.accepts_loss and winner_id in {group.master_id} & {ballot.designated_id}


def _choose(
    group: ReplicaGroup,
    liveness: Liveness,
    ballot: Ballot,
    pool: Collection[int],
    *,
    is_waived: bool = False,
) -> int | None:
    designated_id = ballot.designated_id
    if is_waived and ballot.accepts_loss and designated_id is not None:
        return designated_id if designated_id in liveness.alive_ids else None
    able = _list_able(group, liveness, pool, is_waived=is_waived)
    is_master_wanted = designated_id in (None, group.master_id) and not group.is_master_lost
    if is_master_wanted and group.master_id in able:
        return group.master_id
    if designated_id is not None:
        return designated_id if designated_id in able else None
    return min(able, key=lambda i: _rank(i, group, liveness), default=None)


def _list_able(
    group: ReplicaGroup, liveness: Liveness, pool: Collection[int], *, is_waived: bool
) -> list[int]:
    """List the replicas of a pool that may win.

    A replica verifies its log with the log of a master (D11). If no replica is verified, as after a
    power cut of all, this is never possible. Then the best log wins, once every member has reported
    its log; if a loss is accepted, the best log of those that reported. No winner may lack
    confirmed data, unless this is waived. A log that may lack older segments comes last.
    """
    known = [i for i in pool if i in group.replicas]
    members, alive_ids = group.sync_state_set.members, liveness.alive_ids
    late = {i for i in known if _may_lack_older(i, liveness)}
    barred = frozenset[int]() if pool is members else late
    whole = [
        i for i in known if is_waived or (i not in barred and holds_confirmed(i, group, liveness))
    ]
    able = [i for i in whole if _fault(i, liveness) is None]
    if able:
        return able
    alive = [i for i in whole if i in alive_ids]
    if not alive or (pool is members and not members <= alive_ids):
        return []
    return [min(alive, key=lambda i: (i in late, _rank(i, group, liveness)))]


def _may_lack_older(broker_id: int, liveness: Liveness) -> bool:
    report = liveness.reports.get(broker_id)
    return report is not None and report.may_lack_older


def _holds_all(broker_id: int, group: ReplicaGroup, liveness: Liveness) -> bool:
    """Return whether a replica certainly has every acknowledged message, however long its log is.

    Under the quorum policy each member of the set does. Under the strict policy a master may
    acknowledge data that only some members have (`allAckInSyncStateSet=false`).
    """
    is_member = broker_id in group.sync_state_set.members
    is_whole = is_member and liveness.reports[broker_id].is_verified
    return is_whole and group.lease_policy is LeasePolicy.QUORUM


def _fault(broker_id: int, liveness: Liveness) -> Verdict | None:
    report = liveness.reports.get(broker_id)
    if report is None or not report.is_alive:
        return Verdict.NOT_ALIVE
    return None if report.is_verified else Verdict.UNVERIFIED


def _rank(
    broker_id: int, group: ReplicaGroup, liveness: Liveness
) -> tuple[bool, int, int, bool, bool, int, int]:
    """Return the sort key of a replica; the lowest key wins.

    Routes send no producer to a cordoned replica, so other replicas come before it: if they have
    all acknowledged messages, or if their logs are equally good. Otherwise the cordoned replica
    wins and serves consumers, since a group without a master serves no client.
    """
    report = liveness.reports[broker_id]
    is_last = report.is_cordoned and _holds_all(broker_id, group, liveness)
    log = (-report.epoch, -report.max_offset)
    is_other = broker_id != group.preferred_id
    return (is_last, *log, report.is_cordoned, is_other, report.priority, broker_id)


def _verdict(
    broker_id: int,
    winner_id: int | None,
    group: ReplicaGroup,
    liveness: Liveness,
    ballot: Ballot,
    pool: Collection[int],
) -> Verdict:
    stays = winner_id is not None and _stays(winner_id, group, ballot)
    if broker_id == winner_id:
        return Verdict.STAYS if stays else Verdict.WINS
    if group.master_epoch == NEVER_ELECTED and ballot.broker_id is not None:
        return Verdict.ASKED_LATER
    verdict = _fault(broker_id, liveness)
    if (
        verdict is Verdict.UNVERIFIED
        and winner_id is not None
        and not _may_lack_older(broker_id, liveness)
    ):
        # If no replica is verified, the winner is not verified either.
        verdict = None if _fault(winner_id, liveness) is verdict else verdict
    if verdict in {None, Verdict.UNVERIFIED} and broker_id in pool:
        is_whole = holds_confirmed(broker_id, group, liveness)
        verdict = verdict if is_whole else Verdict.LACKS_CONFIRMED
    if verdict is None and broker_id not in pool:
        verdict = Verdict.NOT_IN_SYNC
    elif verdict is None and ballot.designated_id is not None:
        verdict = Verdict.NOT_DESIGNATED
    if verdict is None:
        # If the pool has an able replica, there is a winner.
        assert winner_id is not None
        verdict = Verdict.MASTER_STAYS if stays else _compare(broker_id, winner_id, group, liveness)
    return verdict


def _compare(broker_id: int, winner_id: int, group: ReplicaGroup, liveness: Liveness) -> Verdict:
    report, best = liveness.reports[broker_id], liveness.reports[winner_id]
    is_passed_over = report.is_cordoned and not best.is_cordoned
    if is_passed_over and _holds_all(winner_id, group, liveness):
        return Verdict.CORDONED
    if report.epoch != best.epoch:
        return Verdict.LOWER_EPOCH
    if report.max_offset != best.max_offset:
        return Verdict.LOWER_OFFSET
    if is_passed_over:
        return Verdict.CORDONED
    if winner_id == group.preferred_id:
        return Verdict.NOT_PREFERRED
    return Verdict.LOWER_PRIORITY if report.priority != best.priority else Verdict.HIGHER_ID
