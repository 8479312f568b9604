"""Judge the health of broker groups: their state, missing brokers, and the cost of a failure.

Plain values and functions. A group under a controller is judged by the replicas that the controller
knows, not by registrations: a dead master is missing until it is back or forgotten, although the
new master has taken its registered id. An unknown state is unknown, never healthy (D21).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from backend.domain.broker_name import BrokerName

RETURNS_WITHIN: Final = timedelta(seconds=30)
"""How long brokers may take to send a heartbeat to a control plane that has just started."""

NAMED_COUNT_MAX: Final = 3
"""The maximum number of groups that the sentence about all groups names."""


class HealthVerdict(StrEnum):
    """Name the health of a group or of all groups; the order is from best to worst."""

    HEALTHY = "healthy"
    UNKNOWN = "unknown"
    DEGRADED = "degraded"
    CRITICAL = "critical"


class Presence(StrEnum):
    """Say whether a broker is present: it sends heartbeats, it is lost, or it is unknown."""

    ALIVE = "alive"
    DOWN = "down"
    UNKNOWN = "unknown"


class WriterFault(StrEnum):
    """Say why a group takes no messages from producers."""

    NO_MASTER = "no_master"
    MASTER_DOWN = "master_down"
    MASTER_LOST = "master_lost"
    CORDONED = "cordoned"
    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"

    @property
    def is_absence(self) -> bool:
        """Return whether the cause is a missing broker, as while a whole cluster starts."""
        return self in {WriterFault.NO_MASTER, WriterFault.MASTER_DOWN, WriterFault.MASTER_LOST}


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """Hold the known facts of one broker of a group.

    Under a controller `broker_id` is the own id of the broker, otherwise the registered id.
    """

    broker_id: int
    address: str
    presence: Presence
    last_heard_at: datetime | None = None
    is_in_sync: bool = True
    is_verified: bool = True
    is_cordoned: bool = False
    is_learner: bool = False
    is_disk_full: bool = False


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """Hold the known facts of one broker group.

    `is_controlled` means that a controller elects its master. `has_writable_topics` is None if the
    group has no topic. The replica `acting_id` acts for an absent master.
    """

    cluster_name: str
    broker_group_name: str
    is_controlled: bool
    master_id: int | None
    brokers: tuple[BrokerFacts, ...]
    is_master_lost: bool = False
    has_writable_topics: bool | None = None
    acting_id: int | None = None
    acting_since: datetime | None = None

    @property
    def master(self) -> BrokerFacts | None:
        """Find the recorded master, present or not."""
        return next((one for one in self.brokers if one.broker_id == self.master_id), None)

    def name_of(self, broker: BrokerFacts) -> str:
        """Return the name of a broker: its group and its id. No failover changes it (D31)."""
        return str(BrokerName(self.broker_group_name, broker.broker_id))


@dataclass(frozen=True, slots=True)
class MissingBroker:
    """Hold a missing broker, and the time of its last heartbeat."""

    broker_id: int
    name: str
    address: str
    last_heard_at: datetime | None


@dataclass(frozen=True, slots=True)
class GroupHealth:
    """Hold the judgement of one group.

    `has_writer` is None if it is unknown. `next_failure` says what one more failure would cost.
    """

    cluster_name: str
    broker_group_name: str
    verdict: HealthVerdict
    sentence: str
    next_failure: str
    replica_count: int
    alive_count: int
    has_writer: bool | None
    writer_fault: WriterFault | None
    writer_sentence: str | None
    missing: tuple[MissingBroker, ...]
    has_heir: bool


@dataclass(frozen=True, slots=True)
class Health:
    """Hold the judgement of all groups together, the worst group first."""

    verdict: HealthVerdict
    sentence: str
    next_failure: str | None
    groups: tuple[GroupHealth, ...]

    @property
    def replica_count(self) -> int:
        """Count the replicas of all groups."""
        return sum(group.replica_count for group in self.groups)

    @property
    def alive_count(self) -> int:
        """Count the present replicas of all groups."""
        return sum(group.alive_count for group in self.groups)


def judge_presence(
    *,
    is_heard: bool,
    last_heard: timedelta | None,
    listened: timedelta,
    is_listener_gone: bool = False,
) -> Presence:
    """Judge whether a broker is present, from its heartbeats and the time of listening.

    A broker whose heartbeats stopped while the control plane listened is lost. A broker with
    earlier heartbeats has some time to come back. `is_listener_gone` means that the process that
    received its last heartbeat has ended, so the silence is no evidence about the broker.
    """
    if is_heard:
        return Presence.ALIVE
    if is_listener_gone:
        is_recent = last_heard is not None and last_heard < RETURNS_WITHIN
        return Presence.UNKNOWN if is_recent or listened < RETURNS_WITHIN else Presence.DOWN
    if last_heard is not None and last_heard < listened:
        return Presence.DOWN
    return Presence.UNKNOWN if listened < RETURNS_WITHIN else Presence.DOWN


def judge_health(groups: Iterable[GroupFacts]) -> Health:
    """Judge every group, and all of them in one sentence."""
    judged = sorted((judge_group(group) for group in groups), key=_urgency)
    if not judged:
        return Health(HealthVerdict.UNKNOWN, "No broker group has registered yet.", None, ())
    verdict = judged[0].verdict
    return Health(verdict, _say_all(verdict, judged), _say_next_of_all(judged), tuple(judged))


def judge_group(group: GroupFacts) -> GroupHealth:
    """Judge one group."""
    alive = [one for one in group.brokers if one.presence is Presence.ALIVE]
    fault = find_writer_fault(group)
    has_writer = _has_writer(group, fault)
    verdict = _verdict(group, has_writer)
    writer_sentence = None if fault is None else _say_no_writer(group, fault)
    brokers = _say_brokers(group, len(alive))
    if writer_sentence is None:
        said = [f"{group.broker_group_name}: {brokers}"]
    else:
        said = [writer_sentence, f"{brokers[0].upper()}{brokers[1:]}"]
    next_failure = _say_next_failure(group, alive, has_writer)
    if verdict is HealthVerdict.DEGRADED:
        said.append(next_failure)
    return GroupHealth(
        cluster_name=group.cluster_name,
        broker_group_name=group.broker_group_name,
        verdict=verdict,
        sentence=" ".join(said),
        next_failure=next_failure,
        replica_count=len(group.brokers),
        alive_count=len(alive),
        has_writer=has_writer,
        writer_fault=fault,
        writer_sentence=writer_sentence,
        missing=tuple(
            MissingBroker(one.broker_id, group.name_of(one), one.address, one.last_heard_at)
            for one in group.brokers
            if one.presence is Presence.DOWN
        ),
        has_heir=bool(list_heirs(group)),
    )


def find_writer_fault(group: GroupFacts) -> WriterFault | None:
    """Return why a group takes no messages; None if it takes messages, or if it is unknown."""
    master = group.master
    if master is None:
        is_unknown = any(one.presence is Presence.UNKNOWN for one in group.brokers)
        return None if is_unknown else WriterFault.NO_MASTER
    if group.is_master_lost:
        return WriterFault.MASTER_LOST
    if master.presence is not Presence.ALIVE:
        return WriterFault.MASTER_DOWN if master.presence is Presence.DOWN else None
    if master.is_cordoned:
        return WriterFault.CORDONED
    if group.has_writable_topics is False:
        return WriterFault.READ_ONLY
    return WriterFault.DISK_FULL if master.is_disk_full else None


def list_heirs(group: GroupFacts) -> list[BrokerFacts]:
    """List the replicas that could become a writing master if the master failed now."""
    if not group.is_controlled:
        return []
    return [
        one
        for one in group.brokers
        if one.broker_id != group.master_id
        and one.presence is Presence.ALIVE
        and one.is_in_sync
        and one.is_verified
        and not (one.is_cordoned or one.is_learner or one.is_disk_full)
    ]


def say_missing(group: GroupFacts, broker: BrokerFacts) -> str:
    """Write since when a lost broker has sent no heartbeat."""
    name = f"{group.name_of(broker)} ({broker.address})"
    if broker.last_heard_at is None:
        return f"{name} sent no heartbeat"
    return f"{name} sent its last heartbeat at {instant_text(broker.last_heard_at)}"


def instant_text(at: datetime) -> str:
    """Write an instant for people, exact to the second.

    Unlike an age it does not become outdated.
    """
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _has_writer(group: GroupFacts, fault: WriterFault | None) -> bool | None:
    if fault is not None:
        return False
    master = group.master
    return True if master is not None and master.presence is Presence.ALIVE else None


def _verdict(group: GroupFacts, has_writer: bool | None) -> HealthVerdict:  # noqa: FBT001 - one of three
    if has_writer is False:
        return HealthVerdict.CRITICAL
    if any(_is_impaired(group, one) for one in group.brokers):
        return HealthVerdict.DEGRADED
    is_known = all(one.presence is not Presence.UNKNOWN for one in group.brokers)
    return HealthVerdict.HEALTHY if has_writer and is_known else HealthVerdict.UNKNOWN


def _is_impaired(group: GroupFacts, broker: BrokerFacts) -> bool:
    if broker.presence is not Presence.ALIVE:
        return broker.presence is Presence.DOWN
    return bool(_flaws(group, broker))


def _flaws(group: GroupFacts, broker: BrokerFacts) -> list[str]:
    """List the limits of a present broker."""
    flaws = []
    if broker.is_cordoned:
        flaws.append("is cordoned")
    if broker.is_disk_full:
        flaws.append("has a full disk")
    if group.is_controlled and not broker.is_learner:
        if not broker.is_verified:
            flaws.append("has not verified its log yet")
        elif not broker.is_in_sync:
            flaws.append("is not in sync")
    return flaws


def _say_brokers(group: GroupFacts, alive_count: int) -> str:
    total = len(group.brokers)
    noun = "replica" if group.is_controlled else "broker"
    verb = "is" if alive_count == 1 else "are"
    said = f"{alive_count} of {total} {noun}{'s' if total != 1 else ''} {verb} alive"
    flawed = {one: _flaws(group, one) for one in group.brokers if one.presence is Presence.ALIVE}
    parts = [said]
    for one in group.brokers:
        if one.presence is Presence.DOWN:
            parts.append(say_missing(group, one))
        elif one.presence is Presence.UNKNOWN:
            why = "is unknown: the control plane started too recently"
            parts.append(f"{group.name_of(one)} {why}")
        elif flawed[one] and one.broker_id != group.master_id:
            parts.append(f"{group.name_of(one)} {' and '.join(flawed[one])}")
    return f"{'; '.join(parts)}."


def _say_no_writer(group: GroupFacts, fault: WriterFault) -> str:
    name, master = group.broker_group_name, group.master
    acting = _say_acting(group)
    if master is None:
        return f"{name} has no writer: it has no master.{acting}"
    master_name = group.name_of(master)
    heirs = list_heirs(group)
    elect = ""
    if heirs:
        command = f"regent controller elect {name} --broker {heirs[0].broker_id}"
        elect = f", or make {group.name_of(heirs[0])} master: `{command}`"
    uncordon = f"`regent broker uncordon {name} --broker 0`"
    why = {
        WriterFault.MASTER_LOST: f"its master {master_name} is gone, and no other replica can"
        f" become master. See why: `regent controller sync-state {name}`.",
        WriterFault.MASTER_DOWN: f"its master {master_name} is not alive.{acting}",
        WriterFault.CORDONED: f"its master {master_name} is cordoned. Uncordon it: {uncordon}"
        f"{elect}.",
        WriterFault.READ_ONLY: f"routes send no producer to its master {master_name}. If it"
        f" is cordoned, uncordon it: {uncordon}.",
        WriterFault.DISK_FULL: f"the disk of its master {master_name} is full. Free space there"
        f"{elect}.",
        WriterFault.NO_MASTER: "it has no master.",
    }[fault]
    return f"{name} has no writer: {why}"


def _say_acting(group: GroupFacts) -> str:
    if group.acting_id is None or group.acting_since is None:
        return ""
    name = BrokerName(group.broker_group_name, group.acting_id)
    return f" Reads go on: {name} acts for it since {instant_text(group.acting_since)}."


def _say_next_failure(
    group: GroupFacts,
    alive: Sequence[BrokerFacts],
    has_writer: bool | None,  # noqa: FBT001 - one of three
) -> str:
    if has_writer is None:
        return "The effect of one more failure is unknown."
    if not alive:
        return "The group serves no requests now."
    if not has_writer:
        is_last = len(alive) == 1
        return (
            "One more failure stops reads too." if is_last else "The group takes no messages now."
        )
    if list_heirs(group):
        return "One more failure stops nothing: another replica takes over."
    return f"One more failure stops writes{' and reads' if len(alive) == 1 else ''}."


def _severity(verdict: HealthVerdict) -> int:
    return list(HealthVerdict).index(verdict)


def _urgency(group: GroupHealth) -> tuple[int, str, str]:
    return (-_severity(group.verdict), group.cluster_name, group.broker_group_name)


def _say_all(verdict: HealthVerdict, judged: Sequence[GroupHealth]) -> str:
    alive = sum(group.alive_count for group in judged)
    total = sum(group.replica_count for group in judged)
    if verdict is HealthVerdict.HEALTHY:
        one = f"The broker group {judged[0].broker_group_name} is healthy"
        who = f"All {len(judged)} broker groups are healthy" if len(judged) > 1 else one
        return f"{who}: {alive} of {total} brokers {'is' if alive == 1 else 'are'} alive."
    others = [group for group in judged[1:] if group.verdict is not HealthVerdict.HEALTHY]
    if not others:
        return judged[0].sentence
    names = ", ".join(group.broker_group_name for group in others[:NAMED_COUNT_MAX])
    more = ", …" if len(others) > NAMED_COUNT_MAX else ""
    are = "group is" if len(others) == 1 else "groups are"
    return f"{judged[0].sentence} {len(others)} more {are} not healthy: {names}{more}."


def _say_next_of_all(judged: Sequence[GroupHealth]) -> str | None:
    """Write what one more failure would cost, or return the text of the worst group."""
    if judged[0].verdict is not HealthVerdict.HEALTHY:
        return judged[0].next_failure
    exposed = [group for group in judged if not group.has_heir]
    if not exposed:
        return "One more failure stops no group."
    names = ", ".join(group.broker_group_name for group in exposed[:NAMED_COUNT_MAX])
    more = ", …" if len(exposed) > NAMED_COUNT_MAX else ""
    return f"One more failure can stop the writes of {names}{more}: no other replica takes over."
