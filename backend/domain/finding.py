"""Decide which invariants of a cluster are broken, and when that is a finding (goal G8, I4-I6).

Plain values and functions. A single observation may be part of a change: a suspicion becomes a
finding if it lasts for some time, and a finding ends after it was absent for the same time. An
observation that lacks an answer neither opens nor closes a finding (D21).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from backend.domain.broker_name import BrokerName
from backend.domain.election import ReplicaReport
from backend.domain.health import (
    RETURNS_WITHIN,
    BrokerFacts,
    GroupFacts,
    Presence,
    judge_group,
)
from backend.domain.replica_group import UNKNOWN_LIFE, UNKNOWN_POSITION, ConfirmedEnd

HOLDS_FOR: Final = timedelta(milliseconds=1_500)
"""How long a suspicion lasts before it is a finding, and how long it is absent before it ends."""

CONTRADICTS_FOR: Final = timedelta(seconds=45)
"""How long members contradict each other before it is a finding.

Brokers are asked for members every 30 s, and a rolling restart changes members one by one.
"""

DIFFERS_FOR: Final = timedelta(seconds=75)
"""How long a static topic differs before it is a finding.

It is checked every 30 s. A broker that returns gets the mapping within seconds, and registers.
"""

OUTSIDE_FOR: Final = timedelta(seconds=60)
"""How long a replica is outside its set before it is a finding: it may restart or catch up."""

ACTS_FOR: Final = timedelta(minutes=5)
"""How long a replica acts for its master before it is a finding: the master may restart."""

Evidence = Mapping[str, Any]


class FindingCode(StrEnum):
    """Name an invariant that is broken."""

    TWO_MASTERS = "two_masters"
    EPOCH_BACKWARDS = "epoch_backwards"
    SET_WITHOUT_MASTER = "set_without_master"
    ROUTE_WITHOUT_BROKER = "route_without_broker"
    REPLICA_AHEAD = "replica_ahead"
    REPLICA_OUTSIDE_SET = "replica_outside_set"
    CONFIRMED_MISSING = "confirmed_missing"
    REPLICA_LOST_CONFIRMED = "replica_lost_confirmed"
    REPLICA_KEEPS_CONFIRMED = "replica_keeps_confirmed"
    REGISTRATION_ITEM_INVALID = "registration_item_invalid"
    REPLICA_DOWN = "replica_down"
    GROUP_WITHOUT_WRITER = "group_without_writer"
    REPLICA_ACTS_LONG = "replica_acts_long"
    SUBSCRIPTIONS_DIFFER = "subscriptions_differ"
    CLIENT_ID_SHARED = "client_id_shared"
    STATIC_TOPIC_DIFFERS = "static_topic_differs"
    SHARE_QUEUE_INCIDENT = "share_queue_incident"
    MESSAGES_LOST = "messages_lost"


ABSENCES: Final = frozenset(
    {
        FindingCode.SET_WITHOUT_MASTER,
        FindingCode.ROUTE_WITHOUT_BROKER,
        FindingCode.REPLICA_OUTSIDE_SET,
        FindingCode.CONFIRMED_MISSING,
    }
)
"""Findings of missing brokers, which every group has while a whole cluster starts."""

OF_BROKERS: Final = frozenset(
    {
        FindingCode.REPLICA_AHEAD,
        FindingCode.REPLICA_OUTSIDE_SET,
        FindingCode.REPLICA_LOST_CONFIRMED,
        FindingCode.REPLICA_KEEPS_CONFIRMED,
        FindingCode.REGISTRATION_ITEM_INVALID,
        FindingCode.REPLICA_DOWN,
        FindingCode.SHARE_QUEUE_INCIDENT,
    }
)
"""Findings about one broker."""

OF_CONSUMER_GROUPS: Final = frozenset(
    {FindingCode.SUBSCRIPTIONS_DIFFER, FindingCode.CLIENT_ID_SHARED}
)
"""Findings about a consumer group."""

OF_TOPICS: Final = frozenset({FindingCode.STATIC_TOPIC_DIFFERS, FindingCode.MESSAGES_LOST})
"""Findings about a topic. All others are about a broker group."""

PATIENCE: Final[Mapping[FindingCode, timedelta]] = {
    FindingCode.REPLICA_OUTSIDE_SET: OUTSIDE_FOR,
    FindingCode.REPLICA_ACTS_LONG: ACTS_FOR,
    FindingCode.SUBSCRIPTIONS_DIFFER: CONTRADICTS_FOR,
    FindingCode.CLIENT_ID_SHARED: CONTRADICTS_FOR,
    FindingCode.STATIC_TOPIC_DIFFERS: DIFFERS_FOR,
}
"""How long a suspicion lasts before it is a finding, for kinds that need more than `HOLDS_FOR`."""


class Severity(StrEnum):
    """How severe it is: messages or order may be lost, or a service or a replacement is missing."""

    CRITICAL = "critical"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Runbook:
    """Hold the severity, the meaning and the advice of a kind of finding.

    The advice names `{group}` or another `{subject}`, and `{broker}` and its `{broker_id}` if it
    concerns a broker.
    """

    severity: Severity
    title: str
    advice: str


RUNBOOKS: Final[Mapping[FindingCode, Runbook]] = {
    FindingCode.TWO_MASTERS: Runbook(
        Severity.CRITICAL,
        "Two brokers of a group act as master",
        "Stop the registered broker that the controller did not elect, then start it again: it"
        " rejoins as a replica. `regent controller sync-state {group}` names the elected one.",
    ),
    FindingCode.EPOCH_BACKWARDS: Runbook(
        Severity.CRITICAL,
        "An epoch is lower than one that was already in force",
        "The database was restored from an older state. Elect no master. Forget the group and adopt"
        " its brokers: `regent controller forget {group} --living`, then `regent replica adopt"
        " {group}`.",
    ),
    FindingCode.SET_WITHOUT_MASTER: Runbook(
        Severity.CRITICAL,
        "A SyncStateSet has no living master in it",
        "Start a member of the set; it is elected by itself. If none can come back, see who could"
        " be: `regent controller elect {group} --dry-run`.",
    ),
    FindingCode.ROUTE_WITHOUT_BROKER: Runbook(
        Severity.WARNING,
        "Topics are placed in a group of which no broker is online",
        "Start a broker of the group. If it will not come back, delete its topics there or forget"
        " it: `regent broker forget {group}`.",
    ),
    FindingCode.REPLICA_AHEAD: Runbook(
        Severity.CRITICAL,
        "A replica holds more of the log than its master",
        "What it holds beyond its master is cut when it follows, unless it was confirmed. If those"
        " messages matter, stop the replica and copy its store before that: `regent replica lag"
        " {group}`.",
    ),
    FindingCode.REPLICA_OUTSIDE_SET: Runbook(
        Severity.WARNING,
        "A running replica has been outside its SyncStateSet for a minute or longer",
        "The controller does not elect it when the master is lost. `regent replica lag {group}`"
        " says how far behind it is, or why it does not follow. To give the replica up, stop it,"
        " then: `regent controller forget {group} --broker {broker_id}`.",
    ),
    FindingCode.REPLICA_DOWN: Runbook(
        Severity.WARNING,
        "A broker of a group is down",
        "Start it again. If it will not come back, forget it: `regent controller forget {group}"
        " --broker {broker_id}`, or without a controller `regent broker forget {group} --broker"
        " {broker_id}`.",
    ),
    FindingCode.GROUP_WITHOUT_WRITER: Runbook(
        Severity.CRITICAL,
        "A broker group has no writer: producers can't send to it",
        "If the master is cordoned, uncordon it: `regent broker uncordon {group}`. If it"
        " is down, start it. See who else could be master: `regent controller sync-state {group}`.",
    ),
    FindingCode.REPLICA_ACTS_LONG: Runbook(
        Severity.WARNING,
        "A replica has acted for its absent master for five minutes or longer",
        "Producers can't send to the group, and messages for a time wait. Start the master."
        " `regent broker members {group}` says what each broker of the group waits for.",
    ),
    FindingCode.CONFIRMED_MISSING: Runbook(
        Severity.CRITICAL,
        "No living replica of a group holds all confirmed messages",
        "No replica is elected. Start the brokers of the group that are not alive: one that holds"
        " all is elected by itself, and the others copy its log. If none can come back, see what"
        " would be lost, then accept that: `regent controller elect {group} --accept-loss"
        " --dry-run`.",
    ),
    FindingCode.REPLICA_LOST_CONFIRMED: Runbook(
        Severity.CRITICAL,
        "A member of a SyncStateSet has lost confirmed messages",
        "The log of broker {broker_id} is the wrong one: its store was emptied, or put back from an"
        " older copy. It is not elected. Keep the stores of the other brokers as they are and start"
        " those that are not alive: broker {broker_id} then copies the master's log by itself."
        " `regent controller elect {group} --broker {broker_id} --dry-run` says what it lacks.",
    ),
    FindingCode.REPLICA_KEEPS_CONFIRMED: Runbook(
        Severity.CRITICAL,
        "A replica holds confirmed messages that its master lacks",
        "Broker {broker_id} keeps its log and does not follow. Compare both logs: `regent replica"
        " lag {group}`. To keep the log of broker {broker_id}, stop the master, then enter `regent"
        " controller elect {group} --broker {broker_id} --accept-loss`. To keep the master's log,"
        " copy the store of broker {broker_id}, then elect the current master by its id with"
        " --accept-loss: broker {broker_id} cuts its log and follows.",
    ),
    FindingCode.REGISTRATION_ITEM_INVALID: Runbook(
        Severity.WARNING,
        "A broker has topics, consumer groups or queue mappings that can't be served",
        "The items in the evidence are left out; all others are served. Change each item on that"
        " broker to allowed values, or delete it there. Use RocketMQ's mqadmin (updateTopic,"
        " deleteTopic, updateSubGroup) with the address in the evidence; `regent broker status"
        " {broker}` shows that the broker answers. The finding closes after the next"
        " registration.",
    ),
    FindingCode.SUBSCRIPTIONS_DIFFER: Runbook(
        Severity.WARNING,
        "Members of a consumer group contradict each other",
        "Brokers serve a group by what one of its members said last, so others miss messages."
        " `regent group members {group}` shows what each member subscribes to. Give all members the"
        " same subscriptions, or move the different members to another group.",
    ),
    FindingCode.CLIENT_ID_SHARED: Runbook(
        Severity.WARNING,
        "Two connections of a consumer group use one client id",
        "Members share queues by client id, so some queues are read twice and others are not"
        " read. `regent group members {group}` shows the addresses. Give each client a different"
        " instance name, then restart it.",
    ),
    FindingCode.STATIC_TOPIC_DIFFERS: Runbook(
        Severity.CRITICAL,
        "Postgres, brokers and name servers hold different mappings of a static topic",
        "Each difference in the evidence names the broken invariant, the broker group and the next"
        " step. Begin no change of the topic before they are gone. Check it again: `regent topic"
        " static check {subject}`.",
    ),
    FindingCode.SHARE_QUEUE_INCIDENT: Runbook(
        Severity.CRITICAL,
        "A member of a broker group can't store or apply records of share queues",
        "The other members serve on. `regent queue share incidents --broker-group {group} --open`"
        " names the record, and what became of it. If {broker} can't store, replace its disk,"
        " then restart it: it copies what it lacks. One that can't apply a record copies it again"
        " by itself. A record that all members leave out needs nothing: the next snapshot of the"
        " lane ends that incident.",
    ),
    FindingCode.MESSAGES_LOST: Runbook(
        Severity.CRITICAL,
        "A topic that is not replicated has lost the messages of its former master",
        "The messages that the former master of the broker group had of topic {subject} are lost."
        " The topic began empty under the new master, and takes messages again. Let producers send"
        " what is missing once more. If the next loss must not happen, create a replicated topic,"
        " then move its producers and consumers there. `regent queue share incidents --topic"
        " {subject}` lists all losses. The finding closes a day after the last one.",
    ),
}


@dataclass(frozen=True, slots=True)
class FindingKey:
    """Hold the code and the subject: a broker group, a broker, a consumer group, or a topic."""

    code: FindingCode
    cluster_name: str
    subject: str

    @classmethod
    def recorded(cls, code: FindingCode, cluster_name: str, subject: str) -> Self:
        """Name what a record is about, also by the former spelling `broker-a/2` of a broker."""
        key = cls(code, cluster_name, subject)
        broker = key.broker_name
        return key if broker is None else cls(code, cluster_name, str(broker))

    @property
    def broker_name(self) -> BrokerName | None:
        """Return the name of the broker that the finding is about."""
        return BrokerName.parse(self.subject) if self.code in OF_BROKERS else None

    @property
    def broker_group_name(self) -> str | None:
        """Return the name of the broker group that the finding is about."""
        if self.code in OF_CONSUMER_GROUPS | OF_TOPICS:
            return None
        broker = self.broker_name
        return self.subject if broker is None else broker.broker_group_name

    @property
    def topic_name(self) -> str | None:
        """Return the name of the topic that the finding is about."""
        return self.subject if self.code in OF_TOPICS else None


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold a broken invariant from its suspicion to its end."""

    id: int | None
    key: FindingKey
    evidence: Evidence
    first_evidence: Evidence
    suspected_at: datetime
    opened_at: datetime | None = None
    cleared_at: datetime | None = None
    closed_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the finding is open now."""
        return self.opened_at is not None and self.closed_at is None

    @property
    def sentence(self) -> str | None:
        """Return the sentence of the health of the group about the finding, if there is one."""
        said = self.evidence.get("sentence")
        return None if said is None else str(said)

    @property
    def advice(self) -> str:
        """Return the advice, with commands that can be used unchanged."""
        broker = self.key.broker_name
        return RUNBOOKS[self.key.code].advice.format(
            group=self.key.broker_group_name or self.key.subject,
            subject=self.key.subject,
            broker=broker,
            broker_id=None if broker is None else broker.own_id,
        )


@dataclass(frozen=True, slots=True)
class ServedMaster:
    """Hold a broker that is registered as master with the name servers, with its address."""

    address: str
    is_online: bool


@dataclass(frozen=True, slots=True)
class ObservedGroup:
    """Hold the known facts of a group under a controller at one moment.

    `epoch_past` is the highest master epoch of its newest changes. `reports` are the last reports
    of its replicas, by id, with their ages.
    """

    cluster_name: str
    broker_group_name: str
    master_id: int | None
    master_address: str | None
    master_epoch: int
    members: frozenset[int]
    is_master_lost: bool
    epoch_past: int
    served_master: ServedMaster | None
    replica_ids: frozenset[int]
    reports: Mapping[int, ReplicaReport]
    confirmed: ConfirmedEnd = field(default_factory=ConfirmedEnd)
    # The process in which each member joined the set.
    lives: Mapping[int, int] = field(default_factory=dict)

    def holds_confirmed(self, broker_id: int) -> bool:
        """Return whether a replica with a report has all confirmed data, as elections judge it."""
        report = self.reports[broker_id]
        is_vouched_for = report.life != UNKNOWN_LIFE and self.lives.get(broker_id) == report.life
        return is_vouched_for or self.confirmed.is_held_by(report.epoch, report.max_offset)


@dataclass(frozen=True, slots=True)
class ForsakenGroup:
    """Hold a group without an online broker, in which topics are placed."""

    cluster_name: str
    broker_group_name: str
    topic_count: int
    topic_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InvalidItems:
    """Hold the invalid items of the last registration of a broker, by its own id."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    count: int
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """Hold the result of one check: suspicions, and facts that could not be judged."""

    suspicions: Mapping[FindingKey, Evidence]
    unjudged: frozenset[FindingKey]


def observe(
    groups: Sequence[ObservedGroup],
    forsaken: Sequence[ForsakenGroup],
    facts: Sequence[GroupFacts],
    invalid: Sequence[InvalidItems] = (),
    suspected: Mapping[FindingKey, Evidence] | None = None,
    *,
    looking_since: datetime,
    at: datetime,
) -> Observation:
    """Look for broken invariants; None as evidence means that it can't be judged now.

    `suspected` is what checks that ask brokers found in their last run.

    A process that has started recently can't distinguish a lost broker from a broker that is coming
    back, unless it received a heartbeat since.
    """
    is_too_early = at - looking_since < RETURNS_WITHIN
    heard_after = looking_since if is_too_early else None
    found = [one for group in groups for one in _judge(group)]
    for left in forsaken:
        key = FindingKey(
            FindingCode.ROUTE_WITHOUT_BROKER, left.cluster_name, left.broker_group_name
        )
        evidence = {"topic_count": left.topic_count, "topic_names": list(left.topic_names)}
        found.append((key, evidence))
    found += (suspected or {}).items()
    for one in invalid:
        subject = str(BrokerName(one.broker_group_name, one.broker_id))
        key = FindingKey(FindingCode.REGISTRATION_ITEM_INVALID, one.cluster_name, subject)
        evidence = {"address": one.address, "count": one.count, "items": list(one.items)}
        found.append((key, evidence))
    unreported = ABSENCES if is_too_early else frozenset()
    judged = [one for group in facts for one in _judge_facts(group, heard_after)]
    unjudged = {key for key, evidence in found if evidence is None or key.code in unreported}
    unjudged |= {key for key, evidence in judged if evidence is None}
    suspicions = {key: evidence for key, evidence in (*found, *judged) if evidence is not None}
    return Observation(
        {key: evidence for key, evidence in suspicions.items() if key not in unjudged},
        frozenset(unjudged),
    )


def follow(
    held: Sequence[Finding], seen: Observation, *, at: datetime
) -> tuple[list[Finding], list[Finding]]:
    """Return the changed findings in their new state, and the suspicions that ended."""
    known = {finding.key: finding for finding in held}
    changed = [
        Finding(None, key, evidence, evidence, suspected_at=at)
        for key, evidence in seen.suspicions.items()
        if key not in known
    ]
    dropped: list[Finding] = []
    for finding in held:
        if finding.key in seen.unjudged:
            continue
        evidence = seen.suspicions.get(finding.key)
        after = _clear(finding, at) if evidence is None else _stand(finding, evidence, at)
        if after is None:
            dropped.append(finding)
        elif after != finding:
            changed.append(after)
    return changed, dropped


def _stand(finding: Finding, evidence: Evidence, at: datetime) -> Finding:
    seen = replace(finding, evidence=evidence, cleared_at=None)
    if finding.is_open:
        return seen
    if not _is_confirmed(finding, evidence):
        return replace(seen, first_evidence=evidence, suspected_at=at)
    if at - finding.suspected_at >= PATIENCE.get(finding.key.code, HOLDS_FOR):
        return replace(seen, opened_at=at)
    return seen


def _clear(finding: Finding, at: datetime) -> Finding | None:
    if not finding.is_open:
        return None
    if finding.cleared_at is None:
        return replace(finding, cleared_at=at)
    if at - finding.cleared_at >= HOLDS_FOR:
        return replace(finding, closed_at=at)
    return finding


def _is_confirmed(finding: Finding, evidence: Evidence) -> bool:
    """Return whether a later check confirms the finding, and excludes an effect of reading order.

    A replica reports its position after its master, so under load it seems ahead by the messages
    between both reports. It was ahead only if its master still lacks these messages now.
    """
    if finding.key.code is not FindingCode.REPLICA_AHEAD:
        return True
    first = finding.first_evidence
    is_same_term = evidence["master_epoch"] == first["master_epoch"]
    return bool(is_same_term and evidence["master_max_offset"] < first["replica_max_offset"])


def _judge(group: ObservedGroup) -> Iterator[tuple[FindingKey, Evidence | None]]:
    def key(code: FindingCode, broker_id: int | None = None) -> FindingKey:
        name = group.broker_group_name
        subject = name if broker_id is None else str(BrokerName(name, broker_id))
        return FindingKey(code, group.cluster_name, subject)

    living = {i: report for i, report in group.reports.items() if report.is_alive}
    if (evidence := _find_backwards(group)) is not None:
        yield key(FindingCode.EPOCH_BACKWARDS), evidence
    if (evidence := _find_unled(group, living)) is not None:
        yield key(FindingCode.SET_WITHOUT_MASTER), evidence
    for code, broker_id, evidence in _judge_logs(group, living):
        yield key(code, broker_id), evidence
    master = None if group.master_id is None else living.get(group.master_id)
    if master is None:
        # Without a report of the master, these can't be judged.
        yield key(FindingCode.TWO_MASTERS), None
    elif (evidence := _find_second_master(group)) is not None:
        yield key(FindingCode.TWO_MASTERS), evidence
    for broker_id in group.replica_ids - {group.master_id}:
        for code, evidence in _judge_replica(group, broker_id, master):
            yield key(code, broker_id), evidence


def _judge_replica(
    group: ObservedGroup, broker_id: int, master: ReplicaReport | None
) -> Iterator[tuple[FindingCode, Evidence | None]]:
    if master is None:
        yield FindingCode.REPLICA_AHEAD, None
        yield FindingCode.REPLICA_OUTSIDE_SET, None
        return
    report = group.reports.get(broker_id)
    if report is not None and (ahead := _find_ahead(master, report)) is not _BEHIND:
        yield FindingCode.REPLICA_AHEAD, ahead
    # A lost replica is a separate finding. A learner is never a member.
    if report is None or not report.is_alive or report.is_learner or broker_id in group.members:
        return
    evidence = {"master_id": group.master_id, "sync_state_set": sorted(group.members)}
    yield FindingCode.REPLICA_OUTSIDE_SET, evidence


def _judge_facts(
    group: GroupFacts, heard_after: datetime | None
) -> Iterator[tuple[FindingKey, Evidence | None]]:
    """Judge missing brokers and a missing writer, in the words of health."""
    judged = judge_group(group)

    def key(code: FindingCode, subject: str = group.broker_group_name) -> FindingKey:
        return FindingKey(code, group.cluster_name, subject)

    fault, master = judged.writer_fault, group.master
    if fault is not None:
        is_unreported = fault.is_absence and _may_come_back(master, heard_after)
        why = {"sentence": judged.sentence, "cause": fault.value}
        yield key(FindingCode.GROUP_WITHOUT_WRITER), None if is_unreported else why
    elif judged.has_writer is None:
        yield key(FindingCode.GROUP_WITHOUT_WRITER), None
    if group.acting_id is not None and group.acting_since is not None:
        acts = {
            "broker": str(BrokerName(group.broker_group_name, group.acting_id)),
            "since": group.acting_since.isoformat(timespec="seconds"),
        }
        yield key(FindingCode.REPLICA_ACTS_LONG), acts
    for broker in group.brokers:
        if broker.presence is Presence.ALIVE:
            continue
        name = group.name_of(broker)
        is_reported = broker.presence is Presence.DOWN and not _may_come_back(broker, heard_after)
        heard_at = broker.last_heard_at
        evidence = {
            "sentence": judged.sentence,
            "broker": name,
            "address": broker.address,
            "last_heard_at": None if heard_at is None else heard_at.isoformat(timespec="seconds"),
        }
        yield key(FindingCode.REPLICA_DOWN, name), evidence if is_reported else None


def _may_come_back(broker: BrokerFacts | None, heard_after: datetime | None) -> bool:
    """Return whether a broker may still be starting after a restart of all."""
    if heard_after is None:
        return False
    return broker is None or broker.last_heard_at is None or broker.last_heard_at < heard_after


def _judge_logs(
    group: ObservedGroup, living: Mapping[int, ReplicaReport]
) -> Iterator[tuple[FindingCode, int | None, Evidence]]:
    """Judge whether living logs contain the confirmed data; a group's finding names no broker."""
    if (evidence := _find_missing(group, living)) is not None:
        yield FindingCode.CONFIRMED_MISSING, None, evidence
    for broker_id, report in living.items():
        for code, found in _judge_log(group, broker_id, report):
            yield code, broker_id, found


def _judge_log(
    group: ObservedGroup, broker_id: int, report: ReplicaReport
) -> Iterator[tuple[FindingCode, Evidence]]:
    confirmed = group.confirmed
    log = {"replica_epoch": _known(report.epoch), "replica_end": _known(report.max_offset)}
    if broker_id in group.members and confirmed.is_known and not group.holds_confirmed(broker_id):
        yield (
            FindingCode.REPLICA_LOST_CONFIRMED,
            {
                **log,
                "confirmed_epoch": confirmed.epoch,
                "confirmed_position": confirmed.position,
                "missing_bytes": confirmed.missing_bytes(report.max_offset),
                "is_verified": report.is_verified,
            },
        )
    if report.refused_cut != UNKNOWN_POSITION:
        master = None if group.master_id is None else group.reports.get(group.master_id)
        yield (
            FindingCode.REPLICA_KEEPS_CONFIRMED,
            {
                **log,
                "replica_confirmed": _known(report.confirm_offset),
                "master_id": group.master_id,
                "master_epoch": group.master_epoch,
                "master_end": None if master is None else _known(master.max_offset),
                "common_end": report.refused_cut,
            },
        )


def _find_missing(group: ObservedGroup, living: Mapping[int, ReplicaReport]) -> Evidence | None:
    """Return evidence that replicas are alive and none of them may become master (D27)."""
    confirmed = group.confirmed
    candidates = [i for i in living if i in group.replica_ids]
    if not confirmed.is_known or not candidates:
        return None
    if any(group.holds_confirmed(i) for i in candidates):
        return None
    best_id = max(candidates, key=lambda i: (living[i].epoch, living[i].max_offset, -i))
    return {
        "confirmed_epoch": confirmed.epoch,
        "confirmed_position": confirmed.position,
        "living_ids": sorted(candidates),
        "best_id": best_id,
        "best_epoch": _known(living[best_id].epoch),
        "best_end": _known(living[best_id].max_offset),
        "missing_bytes": confirmed.missing_bytes(living[best_id].max_offset),
    }


def _known(value: int) -> int | None:
    return None if value == UNKNOWN_POSITION else value


def _find_second_master(group: ObservedGroup) -> Evidence | None:
    served = group.served_master
    if served is None or not served.is_online or served.address == group.master_address:
        return None
    return {
        "elected_id": group.master_id,
        "elected_address": group.master_address,
        "registered_address": served.address,
        "master_epoch": group.master_epoch,
    }


_BEHIND: Final[Evidence] = {}


def _find_ahead(master: ReplicaReport, report: ReplicaReport) -> Evidence | None:
    """Return evidence that a replica is ahead, None if unknown, or `_BEHIND` if it is not ahead.

    A greater epoch than the master's is another finding.
    """
    positions = (master.max_offset, report.max_offset)
    if not report.is_alive or UNKNOWN_POSITION in (*positions, master.epoch, report.epoch):
        return None
    if report.epoch > master.epoch or report.max_offset <= master.max_offset:
        return _BEHIND
    return {
        "master_epoch": master.epoch,
        "master_max_offset": master.max_offset,
        "replica_max_offset": report.max_offset,
    }


def _find_backwards(group: ObservedGroup) -> Evidence | None:
    # The last report of a silent replica is still valid: its log has not changed.
    epochs = {i: report.epoch for i, report in group.reports.items()}
    highest = max(group.epoch_past, *epochs.values(), UNKNOWN_POSITION)
    if highest <= group.master_epoch:
        return None
    return {
        "master_epoch": group.master_epoch,
        "epoch_in_history": group.epoch_past,
        "epochs_told": {str(i): epoch for i, epoch in epochs.items() if epoch > group.master_epoch},
    }


def _find_unled(group: ObservedGroup, living: Mapping[int, ReplicaReport]) -> Evidence | None:
    is_member = group.master_id in group.members
    if not group.members or (is_member and not group.is_master_lost):
        return None
    return {
        "master_id": group.master_id,
        "is_master_lost": group.is_master_lost,
        "sync_state_set": sorted(group.members),
        "living_ids": sorted(living),
    }
