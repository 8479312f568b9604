"""What became of a record at the other members, and when an incident is over."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.domain.election import ReplicaReport
from backend.domain.finding import FindingCode, ObservedGroup
from backend.domain.replica_group import ConfirmedEnd
from backend.domain.share_incident import (
    IncidentOutcome,
    IncidentResolution,
    ReportedIncident,
    ShareIncident,
    judge_incident,
    suspect_losses,
)
from backend.rules.share_incident import IncidentKind

AT, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
INCIDENT = ShareIncident(
    id=1,
    cluster_name="c",
    broker_group_name="broker-a",
    broker_id=2,
    life=7,
    is_named=True,
    kind=IncidentKind.CANNOT_STORE,
    epoch=4,
    lane=0,
    position=1_000,
    topic=None,
    queue_id=None,
    consumer_group_name=None,
    reason="the disk failed",
    outcome=IncidentOutcome.UNKNOWN,
    opened_at=AT,
    resolved_at=None,
    resolution=None,
)
LEFT_OUT = replace(
    INCIDENT, kind=IncidentKind.RECORD_LEFT_OUT, outcome=IncidentOutcome.LEFT_OUT_BY_ALL
)


LOST = replace(
    INCIDENT,
    is_named=False,
    kind=IncidentKind.MESSAGES_LOST,
    position=None,
    topic="scores",
    outcome=None,
    resolved_at=AT,
    resolution=IncidentResolution.TOPIC_EMPTIED,
)


def report(*, end, epoch=4, life=1, is_learner=False):
    return ReplicaReport(0, 10_000, epoch=epoch, max_offset=end, life=life, is_learner=is_learner)


def group(*, members=(1, 3), epoch=4, confirmed=(4, 900), **reports):
    return ObservedGroup(
        cluster_name="c",
        broker_group_name="broker-a",
        master_id=1,
        master_address="a:1",
        master_epoch=epoch,
        members=frozenset(members),
        is_master_lost=False,
        epoch_past=0,
        served_master=None,
        replica_ids=frozenset({1, 2, 3}),
        reports={int(one[1:]): told for one, told in reports.items()},
        confirmed=ConfirmedEnd(*confirmed),
    )


def judge(observed, incident=INCIDENT):
    return judge_incident(incident, observed, at=LATER)


@pytest.mark.parametrize(
    "observed",
    [
        group(r1=report(end=1_001), r2=report(end=1_000)),
        group(r1=report(end=900), r3=report(end=1_200)),
        group(confirmed=(4, 1_001)),
        # The next epoch has begun, and one of its members had reported the record before.
        group(epoch=5, r1=report(end=1_500, epoch=5), r3=report(end=1_100)),
    ],
)
def test_a_member_is_inconsistent_if_another_one_has_the_record_q37(observed):
    judged = judge(observed)

    assert judged.outcome is IncidentOutcome.OTHERS_HAVE_IT
    assert judged.resolved_at is None


def test_the_operation_never_happened_if_no_member_has_the_record_when_the_next_epoch_begins_q37():
    # What the next master wrote at the position is another record.
    observed = group(epoch=5, confirmed=(5, 2_000), r1=report(end=2_000, epoch=5))

    assert judge(observed).outcome is IncidentOutcome.NOBODY_HAS_IT


def test_nothing_is_known_while_the_epoch_lasts_and_no_member_reports_the_record():
    own = report(end=5_000)

    assert judge(group(r1=report(end=1_000), r2=own)).outcome is IncidentOutcome.UNKNOWN


def test_what_was_decided_is_not_decided_again():
    decided = replace(INCIDENT, outcome=IncidentOutcome.NOBODY_HAS_IT)

    assert judge(group(r1=report(end=9_000)), decided) == decided


def test_an_incident_is_over_once_another_process_of_the_member_is_in_sync():
    back = report(end=1_500, life=8)

    assert judge(group(r2=back)).resolved_at is None
    judged = judge(group(members=(1, 2, 3), r2=back))

    assert (judged.resolved_at, judged.resolution) == (LATER, IncidentResolution.RECOVERED)


def test_an_incident_of_a_learner_is_over_once_another_process_has_the_log_behind_the_record():
    # A learner never joins the SyncStateSet.
    def back(**told):
        return judge(group(r2=report(is_learner=True, **told)))

    assert back(end=1_500, life=8).resolution is IncidentResolution.RECOVERED
    assert back(end=1_000, life=8).resolved_at is None
    assert back(end=1_500, life=7).resolved_at is None


def test_the_process_with_the_failed_disk_does_not_end_its_incident_though_it_is_in_the_set():
    assert judge(group(members=(1, 2, 3), r2=report(end=1_000, life=7))).resolved_at is None


@pytest.mark.parametrize(
    ("incident", "resolution"),
    [(INCIDENT, IncidentResolution.RECOVERED), (LEFT_OUT, IncidentResolution.SNAPSHOT)],
)
def test_an_incident_that_its_member_reports_no_more_is_over(incident, resolution):
    judged = judge(group(), replace(incident, is_named=False))

    assert (judged.resolved_at, judged.resolution) == (LATER, resolution)


@pytest.mark.parametrize(
    "observed", [None, replace(group(), replica_ids=frozenset({1, 3}))], ids=["group", "member"]
)
def test_an_incident_ends_with_its_member(observed):
    assert judge(observed).resolution is IncidentResolution.MEMBER_REMOVED


def test_an_open_incident_is_a_finding_about_the_broker():
    key, evidence = LEFT_OUT.suspicion

    assert (key.code, key.subject) == (FindingCode.SHARE_QUEUE_INCIDENT, "broker-a-2")
    assert (evidence["kind"], evidence["outcome"]) == ("record_left_out", "left_out_by_all")


def test_each_topic_that_lost_messages_is_a_finding_with_its_last_loss():
    later = replace(LOST, id=2, broker_group_name="broker-b", epoch=9, opened_at=LATER)
    other = replace(LOST, id=3, topic="hits")

    found = {key.subject: (key, told) for key, told in suspect_losses([LOST, later, other]).items()}

    assert set(found) == {"scores", "hits"}
    key, evidence = found["scores"]
    assert (key.code, key.topic_name) == (FindingCode.MESSAGES_LOST, "scores")
    assert (key.broker_group_name, key.broker_name) == (None, None)
    assert (evidence["broker_group"], evidence["master"]) == ("broker-b", "broker-b-2")
    assert (evidence["master_epoch"], evidence["loss_count"]) == (9, 2)
    assert evidence["lost_at"] == "2026-01-02T00:00:00+00:00"


@pytest.mark.parametrize(
    ("kind", "resolution"),
    [
        (IncidentKind.MESSAGES_LOST, IncidentResolution.TOPIC_EMPTIED),
        (IncidentKind.LEASE_FENCED, IncidentResolution.LEASE_ENDED),
        (IncidentKind.CANNOT_STORE, None),
    ],
)
def test_an_incident_of_a_lease_or_of_lost_messages_is_over_at_once(kind, resolution):
    assert ReportedIncident(kind, 4).first_resolution is resolution
