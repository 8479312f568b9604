"""Judge incidents of share queues: inconsistent errors, lost leases (queue-ownership.md 4.12).

A member that can't store or apply a record reports it (Q37). The positions that the other members
confirmed say whether the operation happened (Q39). Plain values and functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from backend.domain.broker_name import BrokerName
from backend.domain.election import ReplicaReport
from backend.domain.finding import Evidence, FindingCode, FindingKey, ObservedGroup
from backend.domain.queue_filter import QueueFilter
from backend.domain.replica_group import UNKNOWN_LIFE
from backend.rules.share_incident import LASTING, IncidentKind

LOSS_SHOWN_FOR: Final = timedelta(days=1)
"""How long a finding shows that a topic has lost its messages: nothing else would end it."""


EXPLANATIONS: Final[Mapping[IncidentKind, str]] = {
    IncidentKind.CANNOT_STORE: (
        "Broker {broker} can't store records from the position on. Replace its disk, then restart"
        " it: it copies what it lacks."
    ),
    IncidentKind.CANNOT_APPLY: (
        "Broker {broker} has a damaged copy of the record, and copies it from its master again."
        " Look at its disk if that happens again."
    ),
    IncidentKind.RECORD_LEFT_OUT: (
        "The record was written damaged, so each member leaves it out. Nothing is to be done: the"
        " next snapshot of the lane ends the incident."
    ),
    IncidentKind.LEASE_FENCED: (
        "Another member has a later lease than broker {broker}, which delivers nothing by its own."
        " Look at its clock and its network if that happens often."
    ),
    IncidentKind.LEASE_LAPSED: (
        "The lease of broker {broker} was not renewed in time. Look at its network and at the"
        " control plane if that happens often."
    ),
    IncidentKind.OWNER_LOST: (
        "The control plane hears no more of broker {broker}, so its lease has ended. Start the"
        " broker, or look at its network."
    ),
    IncidentKind.MESSAGES_LOST: (
        "Topic {topic} is not replicated. All messages that broker group {group} had of it before"
        " epoch {epoch} were lost with the former master. Send them again. To keep messages at the"
        " next change of the master, create a replicated topic, then move its clients there."
    ),
}
"""What happened, and the next step of an operator."""


class IncidentOutcome(StrEnum):
    """Name what became of the record at the other members."""

    UNKNOWN = "unknown"
    OTHERS_HAVE_IT = "others_have_it"
    """The member is inconsistent, and copies the record from its master."""

    NOBODY_HAS_IT = "nobody_has_it"
    """No other member had reported the record when the next epoch was seen."""

    LEFT_OUT_BY_ALL = "left_out_by_all"
    """Each member leaves it out by the same rule, so their states are equal."""


class IncidentResolution(StrEnum):
    """Name how an incident ended."""

    RECOVERED = "recovered"
    """The member stores and applies records again."""

    SNAPSHOT = "snapshot"
    """A snapshot of the lane follows the record, so nothing depends on it."""

    MEMBER_REMOVED = "member_removed"
    LEASE_ENDED = "lease_ended"
    """Another member may own the share queue. The log refuses records of the former owner."""

    TOPIC_EMPTIED = "topic_emptied"
    """The topic began empty under the new master, and takes messages again."""


@dataclass(frozen=True, slots=True)
class ReportedIncident:
    """Hold an incident as a member reports it.

    The epoch is that of the master, or of the lease. A lasting incident has the log position of its
    record; one of a lease has the names of its share queue; one of lost messages names the topic.
    """

    kind: IncidentKind
    epoch: int
    lane: int = 0
    position: int | None = None
    topic: str | None = None
    queue_id: int | None = None
    consumer_group_name: str | None = None
    reason: str | None = None

    @property
    def first_outcome(self) -> IncidentOutcome | None:
        """Return what is known of the record at once; None without a record."""
        match self.kind:
            case IncidentKind.CANNOT_STORE:
                return IncidentOutcome.UNKNOWN
            case IncidentKind.CANNOT_APPLY:
                # It is confirmed, and each later master has what is confirmed.
                return IncidentOutcome.OTHERS_HAVE_IT
            case IncidentKind.RECORD_LEFT_OUT:
                return IncidentOutcome.LEFT_OUT_BY_ALL
            case _:
                return None

    @property
    def first_resolution(self) -> IncidentResolution | None:
        """Return how an incident that is over at once has ended; None if it lasts."""
        if self.kind in LASTING:
            return None
        if self.kind is IncidentKind.MESSAGES_LOST:
            return IncidentResolution.TOPIC_EMPTIED
        return IncidentResolution.LEASE_ENDED


@dataclass(frozen=True, slots=True)
class ShareIncident:
    """Hold a recorded incident; `life` is the number of the process that reported it last.

    `is_named` is whether that process still reports it.
    """

    id: int
    cluster_name: str
    broker_group_name: str
    broker_id: int
    life: int
    is_named: bool
    kind: IncidentKind
    epoch: int
    lane: int
    position: int | None
    topic: str | None
    queue_id: int | None
    consumer_group_name: str | None
    reason: str | None
    outcome: IncidentOutcome | None
    opened_at: datetime
    resolved_at: datetime | None
    resolution: IncidentResolution | None

    @property
    def broker(self) -> BrokerName:
        """Return the name of the member."""
        return BrokerName(self.broker_group_name, self.broker_id)

    @property
    def explanation(self) -> str:
        """Say what happened, and the next step of an operator."""
        return EXPLANATIONS[self.kind].format(
            broker=self.broker, group=self.broker_group_name, topic=self.topic, epoch=self.epoch
        )

    @property
    def suspicion(self) -> tuple[FindingKey, Evidence]:
        """Return the finding that an open incident is, with its evidence."""
        code = FindingCode.SHARE_QUEUE_INCIDENT
        evidence = {
            "incident_id": self.id,
            "kind": self.kind,
            "lane": self.lane,
            "position": self.position,
            "outcome": self.outcome,
            "reason": self.reason,
        }
        return FindingKey(code, self.cluster_name, str(self.broker)), evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter(QueueFilter):
    """Choose incidents. An incident must fulfil each condition that is given.

    A share queue has the incidents of its name, and those of its broker group without a name.
    """

    is_open: bool | None = None


def judge_incident(
    incident: ShareIncident, group: ObservedGroup | None, *, at: datetime
) -> ShareIncident:
    """Return an open incident with what is known now of its record, and whether it is over.

    Without its broker group, or its member in it, nothing can come of it any more.
    """
    if group is None or incident.broker_id not in group.replica_ids:
        return _resolved(incident, IncidentResolution.MEMBER_REMOVED, at)
    judged = replace(incident, outcome=_compare(incident, group))
    if not incident.is_named:
        is_left_out = incident.kind is IncidentKind.RECORD_LEFT_OUT
        how = IncidentResolution.SNAPSHOT if is_left_out else IncidentResolution.RECOVERED
        return _resolved(judged, how, at)
    report = group.reports.get(incident.broker_id)
    if report is None or report.life in {UNKNOWN_LIFE, incident.life}:
        return judged
    if incident.broker_id in group.members or _has_copied(incident, report):
        return _resolved(judged, IncidentResolution.RECOVERED, at)
    return judged


def suspect_losses(lost: Sequence[ShareIncident]) -> dict[FindingKey, Evidence]:
    """Return a finding for each topic that lost messages, with its last loss; the oldest is first.

    Further losses of the topic, of this broker group or of others, are counted only.
    """
    found: dict[FindingKey, list[ShareIncident]] = {}
    for one in lost:
        assert one.topic is not None, "only such an incident is recorded"
        key = FindingKey(FindingCode.MESSAGES_LOST, one.cluster_name, one.topic)
        found.setdefault(key, []).append(one)
    return {
        key: {
            "broker_group": losses[-1].broker_group_name,
            "master": str(losses[-1].broker),
            "master_epoch": losses[-1].epoch,
            "lost_at": losses[-1].opened_at.isoformat(timespec="seconds"),
            "loss_count": len(losses),
        }
        for key, losses in found.items()
    }


def _has_copied(incident: ShareIncident, report: ReplicaReport) -> bool:
    """Return whether a learner has the log behind the record: it never joins the SyncStateSet."""
    position = incident.position
    return report.is_learner and position is not None and report.max_offset > position


def _compare(incident: ShareIncident, group: ObservedGroup) -> IncidentOutcome | None:
    """Return whether the others have the record: positions are compared within one epoch only.

    A later master may have written something else at the position.
    """
    if incident.outcome is not IncidentOutcome.UNKNOWN or incident.position is None:
        return incident.outcome
    others = [report for one, report in group.reports.items() if one != incident.broker_id]
    ends = [report.max_offset for report in others if report.epoch == incident.epoch]
    if group.confirmed.epoch == incident.epoch and len(group.replica_ids) > 1:
        ends.append(group.confirmed.position)
    if max(ends, default=incident.position) > incident.position:
        return IncidentOutcome.OTHERS_HAVE_IT
    is_epoch_over = group.master_epoch > incident.epoch
    return IncidentOutcome.NOBODY_HAS_IT if is_epoch_over else IncidentOutcome.UNKNOWN


def _resolved(
    incident: ShareIncident, resolution: IncidentResolution, at: datetime
) -> ShareIncident:
    return replace(incident, resolved_at=at, resolution=resolution)
