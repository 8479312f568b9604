"""Describe what each broker of a group does now, and what it waits for (control-plane.md 5).

Plain values and functions. The registration at the name servers says what clients see of a broker.
The broker itself says what it does before it registers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from backend.domain.broker import Broker
from backend.domain.broker_group import BrokerGroup
from backend.domain.health import instant_text
from backend.rules.group_mode import GroupMode
from backend.rules.pre_online import PreOnlinePhase


class MemberPhase(StrEnum):
    """Name what a broker does in its group."""

    SERVING = "serving"
    ACTING = "acting"
    STANDING_BY = "standing_by"
    COMING_ONLINE = "coming_online"
    ISOLATED = "isolated"
    SILENT = "silent"


PRE_ONLINE_TEXTS: Final[Mapping[PreOnlinePhase, str]] = {
    PreOnlinePhase.DONE: "It will register in a moment.",
    PreOnlinePhase.NAME_SERVER: "It waits for the answer of a name server about its group.",
    PreOnlinePhase.MEMBERS: "It waits until a name server lists the members of its group.",
    PreOnlinePhase.ANNOUNCE: "It sends its addresses to the replica {peer}.",
    PreOnlinePhase.COPY: "It waits until the replica {peer} copies its log.",
    PreOnlinePhase.TAKE_OVER: "It takes over offsets, progress and locks from {peer}.",
    PreOnlinePhase.JOIN: "It waits until it copies the log of the master {peer}.",
}


@dataclass(frozen=True, slots=True)
class MemberReport:
    """Hold what a broker reports of its role; None is a value that it does not report.

    A broker of RocketMQ, and one under a controller, report none of these values.
    """

    is_online: bool | None = None
    not_online_reason: str | None = None
    pre_online_phase: PreOnlinePhase | None = None
    pre_online_peer: str | None = None
    alive_count: int | None = None
    in_sync_count: int | None = None
    acting_since_ms: int | None = None
    offset_version: int | None = None
    lock_count: int | None = None
    acted_offset_count: int | None = None
    kept_decision_count: int | None = None


NO_REPORT: Final = MemberReport()


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Hold a broker of a group, its phase in words, and what to do about it.

    `error` is why the broker did not answer.
    """

    broker: Broker
    phase: MemberPhase
    explanation: str
    next_step: str | None
    last_heard_at: datetime | None
    report: MemberReport
    error: str | None


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """Hold a broker group with its members, and why a replica acts if one does."""

    group: BrokerGroup
    members: tuple[GroupMember, ...]
    acting_reason: str | None


def judge_members(
    group: BrokerGroup,
    brokers: Iterable[Broker],
    answers: Mapping[Broker, MemberReport],
    errors: Mapping[Broker, str],
    last_heard: Mapping[Broker, datetime | None],
) -> GroupMembers:
    """Judge what each broker does, and why a replica acts."""
    members = tuple(
        _judge(group, one, answers.get(one), errors.get(one), last_heard.get(one))
        for one in brokers
    )
    reason = None if group.acting_id is None else _why_acting(members)
    return GroupMembers(group, members, reason)


def _judge(
    group: BrokerGroup,
    broker: Broker,
    report: MemberReport | None,
    error: str | None,
    last_heard_at: datetime | None,
) -> GroupMember:
    phase = _phase(group, broker, report)
    explanation, next_step = _explain(group, broker, phase, report or NO_REPORT, last_heard_at)
    return GroupMember(
        broker, phase, explanation, next_step, last_heard_at, report or NO_REPORT, error
    )


def _phase(group: BrokerGroup, broker: Broker, report: MemberReport | None) -> MemberPhase:
    if broker.is_online:
        if broker.is_master:
            return MemberPhase.SERVING
        is_acting = broker.own_id == group.acting_id
        return MemberPhase.ACTING if is_acting else MemberPhase.STANDING_BY
    if report is None:
        return MemberPhase.SILENT
    return MemberPhase.COMING_ONLINE if report.is_online is False else MemberPhase.ISOLATED


def _explain(
    group: BrokerGroup,
    broker: Broker,
    phase: MemberPhase,
    report: MemberReport,
    last_heard_at: datetime | None,
) -> tuple[str, str | None]:
    """Say what a broker does, and what an operator can do about it."""
    match phase:
        case MemberPhase.SERVING:
            return "It is the master: it takes messages.", None
        case MemberPhase.ACTING:
            return _say_acting(group), None
        case MemberPhase.STANDING_BY:
            return _say_standing_by(group), None
        case MemberPhase.COMING_ONLINE:
            return _say_coming(report), "Wait, or remove what is in the way."
        case MemberPhase.ISOLATED:
            return (
                "It answers the control plane, but is registered with no name server.",
                f"Check the network between {broker.address} and its name servers (namesrvAddr).",
            )
        case MemberPhase.SILENT:
            return _say_silent(last_heard_at), f"Start the broker at {broker.address}."


def _say_acting(group: BrokerGroup) -> str:
    since = "" if group.acting_since is None else f" since {instant_text(group.acting_since)}"
    return f"It acts for the absent master{since}: it serves reads, offsets and locks."


def _say_standing_by(group: BrokerGroup) -> str:
    if group.acting_name is not None:
        return f"It copies locks and offsets from {group.acting_name}, which acts for the master."
    if group.mode is GroupMode.CONTROLLER:
        return "It copies the log of the master. The controller can elect it."
    return "It copies the log of the master."


def _say_coming(report: MemberReport) -> str:
    phase = report.pre_online_phase
    said = "It is not online yet." if phase is None else PRE_ONLINE_TEXTS[phase]
    said = said.format(peer=report.pre_online_peer)
    return f"{said} Last round: {report.not_online_reason}." if report.not_online_reason else said


def _say_silent(last_heard_at: datetime | None) -> str:
    if last_heard_at is None:
        return "It does not answer. The time of its last heartbeat is unknown."
    return f"It does not answer. Its last heartbeat came at {instant_text(last_heard_at)}."


def _why_acting(members: Iterable[GroupMember]) -> str:
    master = next((one for one in members if one.broker.is_master), None)
    if master is None:
        return "The name servers know no master of this group."
    name = f"The master {master.broker.name} ({master.broker.address})"
    if master.phase is MemberPhase.SERVING:
        return f"{name} is back: the replica ends to act in a moment."
    return f"{name} is not registered. {master.explanation}"
