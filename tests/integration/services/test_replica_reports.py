"""Which process hears which replica, and what is left of it once no process hears a replica."""

from dataclasses import fields, replace
from datetime import timedelta

from sqlalchemy import text

from backend.domain.election import REPORTED, ReplicaReport
from backend.services.controller.replica_reports import (
    forget_old_replica_reports,
    forget_replica_reports,
)

ALL = frozenset({1, 2, 3})
KEY_1, KEY_2 = ("c", "g", 1), ("c", "g", 2)


async def test_a_replica_that_another_process_hears_is_alive(drive, database):
    one, other = drive(), drive()
    await one.make_f3()
    await other.record(database, KEY_1, KEY_2)
    one.hear(3)

    assert (await one.view()).liveness.alive_ids == ALL
    await forget_replica_reports([KEY_1], heard_by=other.heartbeat_source.id, database=database)
    assert (await one.view()).liveness.alive_ids == {2, 3}
    assert (await one.replace_lost()).group.master_id in {2, 3}


async def test_every_field_of_a_report_reaches_other_processes(drive, database):
    one, other = drive(), drive()
    await one.make_f3()
    values = {
        field.name: not field.default if isinstance(field.default, bool) else 7 + i
        for i, field in enumerate(fields(ReplicaReport))
        if field.name in REPORTED and field.name != "timeout_ms"
    }
    await other.record(database, KEY_1, **values)

    read = (await drive().view()).liveness.reports[1]

    assert replace(read, age_ms=0, grace_ms=0) == ReplicaReport(0, 10_000, **values)


async def test_a_replica_that_left_is_known_by_when_it_was_last_heard(drive, database):
    one, other = drive(), drive()
    await one.make_f3()
    await other.record(database, KEY_1, KEY_2)
    await forget_replica_reports([KEY_1], heard_by=other.heartbeat_source.id, database=database)

    # For a process that heard neither, as after a restart of the one that did.
    liveness = (await drive().view()).liveness

    assert set(liveness.silences_ms) == {1}
    assert 1 not in liveness.reports
    await other.record(database, KEY_1)
    assert 1 in (await drive().view()).liveness.alive_ids


async def test_what_a_dead_process_noted_leaves_when_it_last_heard_each_replica(drive, database):
    one = drive()
    await one.make_f3()
    await one.record(database, KEY_1)
    async with database.begin() as connection:
        aged = "UPDATE replica_reports SET heard_at = heard_at - interval '2 days'"
        await connection.execute(text(aged))

    await forget_old_replica_reports(database=database)

    liveness = (await drive().view()).liveness
    assert liveness.reports == {}
    assert liveness.silences_ms[1] >= timedelta(days=2) / timedelta(milliseconds=1)


async def test_what_a_process_noted_itself_does_not_outlive_its_own_memory(drive, database):
    one = drive()
    await one.make_f3()
    await one.record(database, KEY_1, KEY_2)
    one.hear(2)

    assert (await one.view()).liveness.alive_ids == {2}
