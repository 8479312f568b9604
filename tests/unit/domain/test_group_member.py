"""What each broker of a group does, and why a replica acts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.broker import Broker, BrokerState
from backend.domain.broker_group import BrokerGroup, find_acting_id
from backend.domain.group_member import (
    PRE_ONLINE_TEXTS,
    MemberPhase,
    MemberReport,
    judge_members,
)
from backend.rules.group_mode import GroupMode
from backend.rules.pre_online import PreOnlinePhase

SINCE = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
GROUP = BrokerGroup(1, "c", "g", GroupMode.ACTING_MASTER, acting_id=1, acting_since=SINCE)


def broker(broker_id, *, is_online=True):
    state = BrokerState.ONLINE if is_online else BrokerState.OFFLINE
    address = f"10.0.0.{broker_id}:10911"
    names = (1, 1, "c", "g", broker_id, broker_id)
    return Broker(broker_id, *names[1:], address, None, state, SINCE, SINCE, 10_000)


def judge(master_report, *, group=GROUP, is_master_online=False):
    brokers = [broker(0, is_online=is_master_online), broker(1), broker(2)]
    answers = {} if master_report is None else {brokers[0]: master_report}
    errors = {} if master_report else {brokers[0]: "it can't be reached"}
    return judge_members(group, brokers, answers, errors, {brokers[0]: SINCE})


def phases(found):
    return [one.phase for one in found.members]


@pytest.mark.parametrize(
    ("mode", "online", "acting_id"),
    [
        (GroupMode.ACTING_MASTER, {0, 1, 2}, None),
        (GroupMode.ACTING_MASTER, {2, 1}, 1),
        (GroupMode.ACTING_MASTER, {2}, 2),
        (GroupMode.ACTING_MASTER, set(), None),
        (GroupMode.STATIC, {1, 2}, None),
        (GroupMode.CONTROLLER, {1, 2}, None),
    ],
)
def test_the_replica_with_the_least_id_acts_where_the_mode_allows_it(mode, online, acting_id):
    # S83, S84, S87
    assert find_acting_id(mode, online) == acting_id


def test_a_master_that_does_not_answer_is_silent_and_the_reason_says_since_when():
    found = judge(None)

    assert phases(found) == [MemberPhase.SILENT, MemberPhase.ACTING, MemberPhase.STANDING_BY]
    assert found.acting_reason == (
        "The master g-0 (10.0.0.0:10911) is not registered. It does not answer."
        " Its last heartbeat came at 2026-11-29 10:00:00 UTC."
    )
    silent, acting, other = found.members
    assert silent.error == "it can't be reached"
    assert silent.next_step == "Start the broker at 10.0.0.0:10911."
    assert "since 2026-11-29 10:00:00 UTC" in acting.explanation
    assert "from g-1, which acts" in other.explanation


@pytest.mark.parametrize("phase", PreOnlinePhase)
def test_a_master_that_is_not_online_yet_says_what_it_waits_for(phase):
    report = MemberReport(
        is_online=False,
        not_online_reason="the replica 10.0.0.1:10911 refused its master",
        pre_online_phase=phase,
        pre_online_peer="10.0.0.1:10911",
    )

    found = judge(report)

    assert phases(found)[0] is MemberPhase.COMING_ONLINE
    said = PRE_ONLINE_TEXTS[phase].format(peer="10.0.0.1:10911")
    reason = "Last round: the replica 10.0.0.1:10911 refused its master."
    assert found.members[0].explanation == f"{said} {reason}"
    assert said in found.acting_reason


def test_a_master_that_answers_and_is_registered_nowhere_is_isolated():
    for report in (MemberReport(is_online=True), MemberReport()):
        found = judge(report)

        assert phases(found)[0] is MemberPhase.ISOLATED
        assert "registered with no name server" in found.acting_reason


def test_nothing_acts_beside_a_master_that_serves():
    group = replace(GROUP, acting_id=None, acting_since=None)

    found = judge(MemberReport(is_online=True), group=group, is_master_online=True)

    assert phases(found) == [MemberPhase.SERVING, *[MemberPhase.STANDING_BY] * 2]
    assert found.acting_reason is None


def test_a_group_whose_master_never_registered_says_so():
    found = judge_members(GROUP, [broker(1)], {}, {}, {})

    assert found.acting_reason == "The name servers know no master of this group."
