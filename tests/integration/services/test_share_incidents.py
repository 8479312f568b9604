"""Incidents of share queues in Postgres: reported by members, judged by the reports of replicas."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from backend.clients.clock import SystemClock
from backend.db import share_incidents
from backend.db.findings import FindingFilter
from backend.domain.event import TOPIC_MESSAGES_LOST, EventFilter
from backend.domain.finding import FindingCode
from backend.domain.share_incident import (
    LOSS_SHOWN_FOR,
    IncidentFilter,
    IncidentOutcome,
    IncidentResolution,
    ReportedIncident,
)
from backend.domain.share_lease import LeaseHeartbeat, Member, Wish
from backend.domain.share_queue import ShareQueueName
from backend.rules.share_incident import IncidentKind
from backend.services.controller.replica_reports import (
    forget_replica_reports,
    record_replica_reports,
)
from backend.services.share_queue.incidents import (
    judge_incidents,
    list_incidents,
    record_incidents,
)
from backend.services.share_queue.leases import arbitrate_leases
from backend.services.upkeep.events import list_events, number_events
from backend.services.upkeep.findings import list_findings, scan_findings
from tests.integration.tasks.conftest import SetClock

pytestmark = pytest.mark.usefixtures("group")
DEADLINE_S = 10
LOSSES = FindingFilter(code=FindingCode.MESSAGES_LOST, is_open=True)
"""A report that waits for a lock waits for ever here."""

SQ = ShareQueueName("orders", 0, "billing")
STORE = ReportedIncident(IncidentKind.CANNOT_STORE, 1, position=1_000, reason="the disk failed")
APPLY = ReportedIncident(IncidentKind.CANNOT_APPLY, 1, position=2_000, reason="a wrong checksum")
LOST = ReportedIncident(
    IncidentKind.MESSAGES_LOST, 5, topic="scores", reason="the topic is not replicated"
)
FENCED = ReportedIncident(
    IncidentKind.LEASE_FENCED, 3, topic="orders", queue_id=0, consumer_group_name="billing"
)


@pytest.fixture
async def group(drive):
    """Make the group g of the cluster c: master 1, and 1, 2 and 3 in its set."""
    controller = drive()
    await controller.make_f3()
    return controller


@pytest.fixture
def report(database):
    async def run(*reported, broker_id=2, life=7):
        await record_incidents(reported, Member(broker_id, life), "c", "g", database=database)

    return run


@pytest.fixture
def judge(database):
    async def run():
        async with database.begin() as connection:
            return await judge_incidents(connection, clock=SystemClock())

    return run


@pytest.fixture
def listed(database):
    async def run(**chosen):
        page = await list_incidents(
            size=100, before=None, chosen=IncidentFilter(**chosen), database=database
        )
        assert page.total_count == len(page.items)
        return page.items

    return run


@pytest.fixture
def hear(group, database):
    """Record the heartbeat of a process of a broker."""
    known = group.controller.heartbeat_source.reports_of("c", "g")[2]
    process = uuid4()

    async def run(broker_id, **facts):
        told = {("c", "g", broker_id): replace(known, timeout_ms=60_000, age_ms=0, **facts)}
        await record_replica_reports(told, lease_asked={}, heard_by=process, database=database)

    return run


async def test_a_report_that_is_repeated_is_one_incident_q37(report, listed):
    await report(STORE, FENCED)
    await report(STORE, FENCED)

    lease, store = await listed()
    assert (lease.kind, lease.outcome, lease.topic) == ("lease_fenced", None, "orders")
    assert (lease.resolution, lease.resolved_at) == ("lease_ended", lease.opened_at)
    assert (store.kind, store.position, store.reason) == ("cannot_store", 1_000, "the disk failed")
    assert (store.outcome, store.resolved_at) == (IncidentOutcome.UNKNOWN, None)


async def test_an_incident_that_a_report_names_twice_does_not_refuse_the_report(report, listed):
    # Two incidents of a later release may differ in a field that is unknown here.
    await report(STORE, replace(STORE, reason="another text"), FENCED, FENCED)

    assert [one.kind for one in await listed()] == ["lease_fenced", "cannot_store"]


async def test_no_report_waits_for_a_check_that_ends_no_incident(database, report, listed):
    await report(STORE)

    async with database.begin() as connection:
        assert len(await judge_incidents(connection, clock=SystemClock())) == 1
        async with asyncio.timeout(DEADLINE_S):
            await report(STORE, FENCED)

    assert len(await listed()) == 2


async def test_a_check_waits_for_no_report_so_they_never_wait_for_each_other(
    database, report, listed
):
    await report(STORE, APPLY)
    await report(STORE)

    async with database.begin() as other, database.begin() as connection:
        await other.exec_driver_sql("SELECT FROM share_incidents FOR UPDATE")
        async with asyncio.timeout(DEADLINE_S):
            await judge_incidents(connection, clock=SystemClock())

    # The next check ends what this one could not.
    assert len(await listed(is_open=True)) == 2
    async with database.begin() as connection:
        (still_open,) = await judge_incidents(connection, clock=SystemClock())
    assert still_open.kind is IncidentKind.CANNOT_STORE
    (over,) = await listed(is_open=False)
    assert (over.kind, over.resolution) == ("cannot_apply", IncidentResolution.RECOVERED)


async def test_a_report_reads_and_waits_for_no_incident_that_is_over(database, report, judge, hear):
    await report(STORE)
    await hear(2, life=8)
    assert await judge() == []

    async with database.begin() as removal:
        await removal.exec_driver_sql("SELECT FROM share_incidents FOR UPDATE")
        async with asyncio.timeout(DEADLINE_S):
            await report()


async def test_a_check_does_not_end_what_was_reported_again_meanwhile(database, report, listed):
    await report(STORE)
    await report()
    async with database.connect() as connection:
        (before,) = await share_incidents.list_open(connection)
    await report(STORE)

    over = replace(
        before,
        resolved_at=before.opened_at,
        resolution=IncidentResolution.RECOVERED,
    )
    async with database.begin() as connection:
        await share_incidents.save(connection, [(before, over)])

    (found,) = await listed()
    assert (found.is_named, found.resolved_at) == (True, None)


async def test_the_positions_of_the_others_say_what_became_of_the_record_q37(
    report, judge, listed, hear
):
    await report(STORE)
    await hear(1, epoch=1, max_offset=1_000)
    (still_open,) = await judge()
    assert still_open.outcome is IncidentOutcome.UNKNOWN

    await hear(1, epoch=1, max_offset=1_500)

    await judge()
    (found,) = await listed(is_open=True)
    assert found.outcome is IncidentOutcome.OTHERS_HAVE_IT


async def test_an_incident_that_a_member_names_no_more_is_over_and_begins_again_if_named(
    report, judge, listed
):
    await report(STORE)
    await report()
    assert await judge() == []
    (over,) = await listed(is_open=False)
    assert over.resolution is IncidentResolution.RECOVERED

    await report(STORE)

    (again,) = await judge()
    assert (again.id, again.resolved_at) == (over.id, None)


async def test_the_report_of_a_restarted_process_says_nothing_of_the_former_one(
    report, judge, hear
):
    await report(STORE, life=7)
    await report(life=8)
    assert len(await judge()) == 1

    await hear(2, life=8)

    assert await judge() == []


async def test_nothing_is_recorded_of_a_broker_that_is_no_replica_of_the_group(report, listed):
    await report(STORE, FENCED, broker_id=9)

    assert await listed() == ()


async def test_a_share_queue_has_the_incidents_of_its_lane_and_its_own(report, listed):
    await report(STORE, FENCED, replace(FENCED, queue_id=1))

    found = await listed(cluster_name="c", topic="orders", queue_id=1)

    assert [one.queue_id for one in found] == [1, None]
    assert await listed(broker_group_name="other") == ()


async def test_an_owner_that_is_heard_no_more_is_an_incident_that_is_over_q90(
    database, listed, hear
):
    await hear(2, life=1)
    heartbeat = LeaseHeartbeat(Member(2, 1), {}, {SQ: Wish(0, has_messages=True)}, {})
    await arbitrate_leases(heartbeat, "c", "g", database=database)
    gone = [("c", "g", 2)]

    # Each process of the control plane that heard the broker says so.
    await forget_replica_reports(gone, heard_by=uuid4(), database=database)
    assert await listed() == ()
    async with database.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM replica_reports WHERE broker_id = 2")
    await forget_replica_reports(gone, heard_by=uuid4(), database=database)

    (lost,) = await listed()
    assert (lost.kind, lost.broker_id, lost.epoch) == (IncidentKind.OWNER_LOST, 2, 1)
    assert lost.resolution is IncidentResolution.LEASE_ENDED


async def test_an_open_incident_opens_a_finding_about_the_broker(database, report):
    await report(STORE)
    clock = SystemClock()
    chosen = FindingFilter(code=FindingCode.SHARE_QUEUE_INCIDENT)

    await scan_findings(database=database, clock=clock, looking_since=clock.now())

    async with database.connect() as connection:
        found = await connection.exec_driver_sql(
            "SELECT subject, evidence ->> 'kind' FROM findings WHERE code = %(code)s",
            {"code": chosen.code},
        )
        assert [tuple(row) for row in found] == [("g-2", "cannot_store")]
    listed = await list_findings(size=10, before=None, chosen=chosen, database=database)
    assert listed.items == (), "it is only suspected yet"


async def test_lost_messages_are_one_incident_that_is_over_at_once(report, listed, judge):
    await report(LOST, STORE)
    await report(LOST, STORE)

    lost, store = await listed()
    assert (lost.kind, lost.topic, lost.epoch, lost.queue_id) == (
        "messages_lost",
        "scores",
        5,
        None,
    )
    assert (lost.consumer_group_name, lost.outcome, lost.is_named) == (None, None, False)
    assert (lost.resolution, lost.resolved_at) == ("topic_emptied", lost.opened_at)
    assert [one.kind for one in await judge()] == [store.kind]
    # Each share queue of the topic has it.
    named = {"topic": "scores", "queue_id": 3, "consumer_group_name": "billing"}
    assert [one.kind for one in await listed(**named)] == ["messages_lost", "cannot_store"]


async def test_lost_messages_are_an_event_for_each_epoch_and_a_repeated_report_is_none(
    database, report
):
    both = (LOST, replace(LOST, topic="hits"))
    await report(*both, FENCED)
    await report(*both)
    await report(replace(LOST, epoch=6))

    await number_events(database=database)
    found = await list_events(
        after=None,
        size=10,
        chosen=EventFilter(kinds=frozenset({TOPIC_MESSAGES_LOST})),
        database=database,
    )

    assert [(one.cluster_name, one.subject, one.details) for one in found.events] == [
        ("c", "g", {"topics": ["hits", "scores"], "topic_count": 2, "master_epoch": 5}),
        ("c", "g", {"topics": ["scores"], "topic_count": 1, "master_epoch": 6}),
    ]


async def test_lost_messages_are_a_finding_about_the_topic_for_a_day(database, report):
    # Postgres says when the messages were lost.
    clock = SetClock(SystemClock().now())
    await report(LOST)

    async def open_losses():
        for _ in range(3):
            await scan_findings(database=database, clock=clock, looking_since=clock.now())
            clock.advance(seconds=2)
        page = await list_findings(size=10, before=None, chosen=LOSSES, database=database)
        return page.items

    (found,) = await open_losses()
    assert (found.key.subject, found.evidence["master"], found.evidence["master_epoch"]) == (
        "scores",
        "g-2",
        5,
    )
    assert "The topic began empty under the new master" in found.advice
    assert "regent queue share incidents --topic scores" in found.advice
    clock.advance(seconds=LOSS_SHOWN_FOR.total_seconds())
    assert await open_losses() == ()
