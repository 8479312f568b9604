"""Each broken invariant is found when it is planted, no other is, and it ends when it is mended."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import text, update

from backend.db import events as event_rows
from backend.db.brokers import BrokerRegistration
from backend.db.tables import brokers, replica_groups
from backend.domain.broker import NOTHING_LEFT_OUT, DataVersion, LeftOutItem, LeftOutItems
from backend.domain.event import EventFilter
from backend.domain.finding import ACTS_FOR, OUTSIDE_FOR, RUNBOOKS, FindingCode, Severity
from backend.domain.health import RETURNS_WITHIN
from backend.domain.topic import QueueSettings
from backend.rules.group_mode import GroupMode
from backend.services.controller.registrations import (
    MarkBrokerOffline,
    RegisterBroker,
    mark_broker_offline,
    register_broker,
)
from backend.services.upkeep.events import number_events
from backend.services.upkeep.findings import FindingFilter, list_findings, scan_findings
from tests.integration.tasks.conftest import SetClock

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
ANY = FindingFilter()
OPEN = FindingFilter(is_open=True)
KEYS = tuple(("c", "g", broker_id) for broker_id in (1, 2, 3))


@pytest.fixture
def clock():
    return SetClock()


@pytest.fixture
def scan(database, clock):
    """Look once, like a process that has looked for long."""

    async def run(looking_since=LONG_AGO):
        await scan_findings(database=database, clock=clock, looking_since=looking_since)

    return run


@pytest.fixture
def look(scan, database, clock):
    """Scan as often as it takes for what stands to count; give what is open then."""

    async def run(times=3, looking_since=LONG_AGO):
        for _ in range(times):
            await scan(looking_since)
            clock.advance(seconds=2)
        page = await list_findings(size=100, before=None, chosen=OPEN, database=database)
        return [(one.key.code, one.key.subject) for one in page.items]

    return run


@pytest.fixture
def register(database, clock):
    async def write(
        broker_id,
        address,
        group="g",
        topics=(),
        left_out=NOTHING_LEFT_OUT,
        mode=GroupMode.STATIC,
    ):
        registration = BrokerRegistration(broker_id, address, None, 10_000, DataVersion(), left_out)
        settings = {name: QueueSettings(4, 4, 6) for name in topics}
        command = RegisterBroker("c", group, registration, mode, topics=settings)
        await register_broker(command, database=database, clock=clock)

    return write


@pytest.fixture
async def sound(controller, register):
    """Three replicas, all heard in the same epoch, the master registered where it was elected."""
    await controller.make_f3()
    master = (await controller.group()).master
    await register(0, master.address, topics=["orders"])
    await report_samples(controller)
    return controller


async def report_samples(controller, epoch=1, **offsets):
    for broker_id in (2, 3, 1):
        end = offsets.get(f"b{broker_id}", 900)
        await controller.record(
            controller.controller.database, KEYS[broker_id - 1], epoch=epoch, max_offset=end
        )


async def execute(database, statement):
    async with database.begin() as connection:
        await connection.execute(statement)


@pytest.mark.usefixtures("sound")
async def test_a_sound_group_has_no_finding(look):
    assert await look(times=4) == []


async def test_a_second_registered_master_is_found_and_ends_with_it(
    sound, look, register, database
):
    await register(0, "10.9.9.9:10911")

    found = await look()
    await register(0, (await sound.group()).master.address)
    afterwards = await look()

    assert found == [(FindingCode.TWO_MASTERS, "g")]
    assert afterwards == []
    [past] = (await list_findings(size=9, before=None, chosen=ANY, database=database)).items
    assert past.evidence["registered_address"] == "10.9.9.9:10911"
    assert past.closed_at is not None


@pytest.mark.usefixtures("sound")
async def test_an_epoch_below_one_of_the_history_is_found(look, database):
    await execute(database, text("UPDATE replica_group_changes SET master_epoch = 7"))

    assert await look() == [(FindingCode.EPOCH_BACKWARDS, "g")]


async def test_an_epoch_below_one_that_a_replica_reports_is_found(sound, look):
    await sound.record(sound.controller.database, KEYS[1], epoch=9, max_offset=900)

    assert await look() == [(FindingCode.EPOCH_BACKWARDS, "g")]


@pytest.mark.usefixtures("sound")
async def test_a_group_founded_again_may_begin_at_epoch_zero(look, database):
    change = text("""
        INSERT INTO replica_group_changes (cluster_name, broker_group_name, kind, cause, changed_at,
               master_epoch, sync_state_set, sync_state_set_epoch, replica_addresses)
        VALUES ('c', 'g', 'group_removed', 'test', now(), 9, '{}', 9, '{}')""")

    await execute(database, change)

    assert await look() == []


@pytest.mark.parametrize("values", [{"is_master_lost": True}, {"master_id": None}])
@pytest.mark.usefixtures("sound")
async def test_a_set_without_its_master_is_found(look, database, values):
    await execute(database, update(replica_groups).values(**values))

    assert set(await look()) == {
        (FindingCode.SET_WITHOUT_MASTER, "g"),
        (FindingCode.GROUP_WITHOUT_WRITER, "g"),
    }


@pytest.mark.usefixtures("sound")
async def test_a_master_outside_its_set_is_found_where_no_constraint_kept_it_out(look, database):
    await execute(
        database, text("ALTER TABLE replica_groups DROP CONSTRAINT ck_replica_groups_master")
    )
    await execute(database, update(replica_groups).values(sync_state_set=[2, 3]))

    assert await look() == [(FindingCode.SET_WITHOUT_MASTER, "g")]


@pytest.mark.usefixtures("sound")
async def test_topics_of_a_group_without_a_broker_are_found(look, register, database):
    await register(0, "10.0.0.8:10911", group="h", topics=["orders", "payments"])
    offline = update(brokers).where(brokers.c.address == "10.0.0.8:10911")
    await execute(database, offline.values(state="offline"))

    found = await look()
    await register(0, "10.0.0.8:10911", group="h")

    assert set(found) == {
        (FindingCode.ROUTE_WITHOUT_BROKER, "h"),
        (FindingCode.GROUP_WITHOUT_WRITER, "h"),
        (FindingCode.REPLICA_DOWN, "h-0"),
    }
    assert await look() == []
    routed = FindingFilter(code=FindingCode.ROUTE_WITHOUT_BROKER)
    [past] = (await list_findings(size=9, before=None, chosen=routed, database=database)).items
    assert past.evidence == {"topic_count": 2, "topic_names": ["orders", "payments"]}


async def test_who_is_not_back_yet_after_a_restart_is_no_finding(
    sound, look, register, database, clock
):
    await execute(database, update(brokers).values(state="offline"))
    await execute(database, update(replica_groups).values(is_master_lost=True))
    long_silent = text("UPDATE replica_reports SET heard_at = heard_at - interval '1 year'")
    await execute(database, long_silent)
    restarted_at = clock.now()

    assert await look(looking_since=restarted_at) == []
    assert len(await look()) == 3
    # What was open before a restart stays so.
    assert len(await look(looking_since=clock.now())) == 3
    await register(0, "10.0.0.1:10911")
    await execute(database, update(replica_groups).values(is_master_lost=False))
    await report_samples(sound)

    assert await look(looking_since=clock.now()) == []


@pytest.mark.usefixtures("sound")
async def test_who_does_not_come_back_after_a_restart_is_found(look, database, clock):
    await execute(database, update(brokers).values(state="offline"))
    restarted_at = clock.now()
    clock.advance(seconds=RETURNS_WITHIN.total_seconds())

    found = await look(looking_since=restarted_at)

    assert found == [(FindingCode.ROUTE_WITHOUT_BROKER, "g")]


async def test_a_replica_that_stays_ahead_of_its_master_is_found(sound, look):
    await report_samples(sound, b3=950)

    assert await look() == [(FindingCode.REPLICA_AHEAD, "g-3")]


async def test_an_open_finding_with_the_former_spelling_of_a_broker_goes_on(sound, look, database):
    # Records from before brokers had one name call the broker g/3 (case B2).
    await report_samples(sound, b3=950)
    await look()
    former = text("UPDATE findings SET subject = 'g/3' WHERE subject = 'g-3' RETURNING id")
    async with database.begin() as connection:
        finding_id = await connection.scalar(former)

    assert await look() == [(FindingCode.REPLICA_AHEAD, "g-3")]
    [listed] = (await list_findings(size=9, before=None, chosen=ANY, database=database)).items
    assert (listed.id, "lag g`" in listed.advice) == (finding_id, True)


async def test_a_replica_that_was_only_asked_later_is_not_ahead(sound, look):
    ends = 900
    for _ in range(5):
        # Under load each look sees the replica beyond the master's report of a moment before.
        await report_samples(sound, b3=ends + 50, b1=ends)
        ends += 50
        assert await look(times=1) == []


async def test_a_fact_that_is_unknown_neither_opens_nor_closes(sound, look, database):
    await report_samples(sound, b3=950)
    found = await look()
    silent = text("UPDATE replica_reports SET heard_at = heard_at - interval '1 hour'")
    await execute(database, silent)

    assert found == await look() == [(FindingCode.REPLICA_AHEAD, "g-3")]


async def set_members(database, *ids):
    await execute(database, update(replica_groups).values(sync_state_set=list(ids)))


@pytest.mark.usefixtures("sound")
async def test_a_replica_is_missed_once_it_was_outside_its_set_for_a_minute(look, clock, database):
    await set_members(database, 1, 2)

    soon = await look()
    clock.advance(seconds=OUTSIDE_FOR.total_seconds())
    later = await look()
    await set_members(database, 1, 2, 3)

    assert (soon, later) == ([], [(FindingCode.REPLICA_OUTSIDE_SET, "g-3")])
    assert await look() == []
    [past] = (await list_findings(size=9, before=None, chosen=ANY, database=database)).items
    assert past.evidence == {"master_id": 1, "sync_state_set": [1, 2]}
    assert "`regent replica lag g`" in past.advice
    assert "`regent controller forget g --broker 3`" in past.advice


async def test_an_item_that_a_broker_can_not_have_is_found_until_it_is_mended(
    register, look, database
):
    # Case A4: the finding names broker and topic.
    left_out = LeftOutItems(1, (LeftOutItem("topic", "a b", "its name holds a blank"),))
    await register(0, "127.0.0.1:10911", topics=["orders"], left_out=left_out)

    found = await look()
    page = await list_findings(size=1, before=None, chosen=OPEN, database=database)
    await register(0, "127.0.0.1:10911", topics=["orders"])

    assert found == [(FindingCode.REGISTRATION_ITEM_INVALID, "g-0")]
    assert page.items[0].evidence == {
        "address": "127.0.0.1:10911",
        "count": 1,
        "items": ["topic a b: its name holds a blank"],
    }
    assert await look() == []


async def test_a_replica_that_acts_for_long_is_found_until_its_master_is_back(
    register, look, clock, database
):
    for broker_id in (0, 1):
        await register(broker_id, f"a:{broker_id + 1}", mode=GroupMode.ACTING_MASTER)
    began_at = clock.now()
    gone = MarkBrokerOffline("c", "g", 0)
    await mark_broker_offline(gone, database=database, clock=clock)

    soon = await look()
    clock.advance(seconds=ACTS_FOR.total_seconds())
    later = await look()
    await register(0, "a:1", mode=GroupMode.ACTING_MASTER)

    assert (FindingCode.REPLICA_ACTS_LONG, "g") not in soon
    assert (FindingCode.REPLICA_ACTS_LONG, "g") in later
    assert await look() == []
    found = (await list_findings(size=9, before=None, chosen=ANY, database=database)).items
    [past] = [one for one in found if one.key.code is FindingCode.REPLICA_ACTS_LONG]
    assert past.evidence == {"broker": "g-1", "since": began_at.isoformat(timespec="seconds")}
    assert "`regent broker members g`" in past.advice


@pytest.mark.usefixtures("sound")
async def test_a_replica_that_comes_back_within_a_minute_is_not_missed(look, clock, database):
    for _ in range(3):
        await set_members(database, 1, 2)
        assert await look() == []
        clock.advance(seconds=OUTSIDE_FOR.total_seconds() - 8)
        await set_members(database, 1, 2, 3)
        assert await look(times=1) == []


async def test_a_learner_is_missed_only_when_it_is_gone(sound, look, clock, database):
    await sound.record(sound.controller.database, KEYS[2], epoch=1, max_offset=9, is_learner=True)
    await set_members(database, 1, 2)
    await look()
    clock.advance(seconds=OUTSIDE_FOR.total_seconds())

    living = await look()
    await execute(database, text("DELETE FROM replica_reports WHERE broker_id = 3"))

    assert (living, await look()) == ([], [(FindingCode.REPLICA_DOWN, "g-3")])


async def lose(database, broker_id):
    """Note that the process which heard a replica hears it no longer."""
    forget = text("""
        WITH gone AS (DELETE FROM replica_reports WHERE broker_id = :id RETURNING *)
        UPDATE replicas SET last_heard_at = gone.heard_at FROM gone
         WHERE replicas.broker_group_id = gone.broker_group_id AND replicas.broker_id = :id""")
    async with database.begin() as connection:
        await connection.execute(forget, {"id": broker_id})


@pytest.mark.usefixtures("sound")
async def test_a_dead_replica_is_found_within_five_seconds_in_the_words_of_health(look, database):
    # Case B1: the first finding came after 62.7 s.
    await lose(database, 3)

    found = await look(times=2)
    await database_reports_again(database)
    afterwards = await look(times=3)

    assert found == [(FindingCode.REPLICA_DOWN, "g-3")]
    assert afterwards == []
    [past] = (await list_findings(size=9, before=None, chosen=ANY, database=database)).items
    assert past.sentence is not None
    assert past.sentence.startswith("g: 2 of 3 replicas are alive; g-3 (10.0.0.3:10911) sent ")
    assert past.evidence["broker"] == "g-3"


async def database_reports_again(database):
    again = text("""
        INSERT INTO replica_reports SELECT broker_group_id, 3, heard_by, heard_at, timeout_ms,
               epoch, max_offset, confirm_offset, priority, is_verified, is_cordoned, is_learner
          FROM replica_reports WHERE broker_id = 2""")
    await execute(database, again)


async def test_a_dead_former_master_is_found_although_its_registered_id_is_its_successors(
    sound, look, register, database
):
    # Case B1: id 0 passes to the winner, and the dead one was in no row.
    await lose(database, 1)
    sound.hear(2, 3, epoch=1, max_offset=900)
    await sound.replace_lost()
    await register(0, (await sound.group()).master.address)

    assert await look() == [(FindingCode.REPLICA_DOWN, "g-1")]


@pytest.mark.usefixtures("sound")
async def test_who_was_heard_since_a_worker_began_is_found_dead_at_once(look, database):
    # Case B1, right after a start: the replica is not about to come back from before it.
    began_at = datetime.now(UTC)
    again = text("UPDATE replica_reports SET heard_at = clock_timestamp()")
    await execute(database, again)
    await lose(database, 3)

    assert await look(times=2, looking_since=began_at) == [(FindingCode.REPLICA_DOWN, "g-3")]


async def test_a_group_whose_master_is_cordoned_has_no_writer_and_that_is_critical(
    sound, look, clock
):
    # Case A16. No replica is missing, so that a scan which has just begun finds it as well.
    await sound.record(
        sound.controller.database, KEYS[0], epoch=1, max_offset=900, is_cordoned=True
    )

    found = await look(looking_since=clock.now())

    assert found == [(FindingCode.GROUP_WITHOUT_WRITER, "g")]
    assert RUNBOOKS[FindingCode.GROUP_WITHOUT_WRITER].severity is Severity.CRITICAL
    page = await list_findings(size=9, before=None, chosen=OPEN, database=sound.controller.database)
    assert "has no writer: its master g-1 is cordoned" in page.items[0].sentence


@pytest.mark.usefixtures("sound")
async def test_replicas_that_a_stopped_process_heard_last_are_not_taken_for_dead(look, database):
    # Case B1, the reverse: the control plane is away, so that no replica can be judged.
    silent = text("UPDATE replica_reports SET heard_at = heard_at - interval '20 seconds'")
    await execute(database, silent)

    assert await look() == []


async def test_replicas_that_have_not_come_to_a_new_process_yet_are_not_taken_for_dead(
    sound, look, database
):
    # A process was replaced by another, which hears the master already and the others not yet.
    silent = text("UPDATE replica_reports SET heard_at = heard_at - interval '20 seconds'")
    await execute(database, silent)
    sound.heartbeat_source.id = uuid4()
    await sound.record(database, KEYS[0], epoch=1, max_offset=900)

    found = await look()
    later = text("""UPDATE replica_reports SET heard_at = heard_at - interval '20 seconds'
                     WHERE heard_at < now() - interval '15 seconds'""")
    await execute(database, later)

    assert found == []
    assert set(await look()) == {
        (FindingCode.REPLICA_DOWN, "g-2"),
        (FindingCode.REPLICA_DOWN, "g-3"),
    }


@pytest.mark.usefixtures("sound")
async def test_a_replica_that_was_forgotten_is_missed_no_longer(look, clock, database):
    await set_members(database, 1, 2)
    await look()
    clock.advance(seconds=OUTSIDE_FOR.total_seconds())
    found = await look()
    forgotten = text("UPDATE replicas SET removed_at = now() WHERE broker_id = 3")
    await execute(database, forgotten)

    assert (found, await look()) == ([(FindingCode.REPLICA_OUTSIDE_SET, "g-3")], [])


async def test_who_is_missed_stays_so_while_the_master_is_silent(sound, look, clock, database):
    await set_members(database, 1, 2)
    await look()
    clock.advance(seconds=OUTSIDE_FOR.total_seconds())
    await look()
    silent = text("UPDATE replica_reports SET heard_at = heard_at - interval '1 hour'")
    await execute(database, silent)
    await set_members(database, 1, 2, 3)
    found = await look()
    await report_samples(sound)

    assert (found, await look()) == ([(FindingCode.REPLICA_OUTSIDE_SET, "g-3")], [])


async def test_what_is_seen_once_is_no_finding(sound, look, register, database):
    await register(0, "10.9.9.9:10911")
    await look(times=1)
    await register(0, (await sound.group()).master.address)

    assert await look() == []
    assert (await list_findings(size=9, before=None, chosen=ANY, database=database)).items == ()


@pytest.mark.usefixtures("sound")
async def test_an_opened_and_a_closed_finding_have_one_event_however_often_the_check_runs(
    look, scan, register, database, sound
):
    await register(0, "10.9.9.9:10911")
    await look()
    await asyncio.gather(*(scan() for _ in range(4)))
    await register(0, (await sound.group()).master.address)
    await look()

    await number_events(database=database)
    async with database.connect() as connection:
        _, found = await event_rows.list_after(connection, None, chosen=EventFilter(), limit=500)
    told = [(one.kind, one.details["finding"]) for one in found if "finding" in one.kind]
    assert told == [("finding.opened", "two_masters"), ("finding.closed", "two_masters")]


@pytest.mark.usefixtures("sound")
async def test_a_scan_that_crashes_before_its_commit_leaves_all_to_the_next(
    look, scan, register, monkeypatch
):
    await register(0, "10.9.9.9:10911")
    await look(times=1)

    async def crash(*_):
        raise ConnectionResetError

    with monkeypatch.context() as patch:
        patch.setattr(event_rows, "stage", crash)
        with pytest.raises(ConnectionResetError):
            await scan()
    assert await look(times=1) == [(FindingCode.TWO_MASTERS, "g")]
