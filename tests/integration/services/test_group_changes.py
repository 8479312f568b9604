"""A change that is decided from what was known last holds only if that is the truth still (D1)."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from backend.db import replica_groups as table
from backend.db.engine import open_database
from backend.db.pipeline import Pipeline
from backend.domain.election import ReplicaReport
from backend.domain.errors import MasterLeaseLive
from backend.domain.replica_group import ChangeKind, LeasePolicy
from backend.services.controller import replica_groups as service
from backend.services.controller.group_changes import BrokerGroupName
from backend.services.controller.replica_reports import record_replica_reports

KEY_1 = ("c", "g", 1)
HERE = 10_000


@pytest.fixture
def statements(monkeypatch):
    """Collect the names of statements with a waiting caller, so not those that only notify."""
    sent = []
    fetch = Pipeline.fetch

    async def note(pipeline, statement, values, **more):
        if statement.name != b"notify":
            sent.append(statement.name.decode())
        return await fetch(pipeline, statement, values, **more)

    monkeypatch.setattr(Pipeline, "fetch", note)
    return sent


async def hear_elsewhere(database, **reports):
    heard = {("c", "g", int(name[1:])): told for name, told in reports.items()}
    await record_replica_reports(heard, lease_asked={}, heard_by=uuid4(), database=database)


async def test_an_election_in_a_known_group_is_one_statement(controller, statements):
    await controller.make_f3()
    controller.hear(2, 3)
    statements.clear()

    view = await controller.replace_lost()

    assert view.group.master_epoch == 2
    assert statements == ["write_replica_group"]


async def test_a_stale_memory_costs_a_statement_and_no_truth(drive, statements):
    one, other = drive(), drive()
    await one.make_f3()
    other.hear(1, 2, 3)
    await other.alter({1, 2}, epoch=2)
    one.hear(2, 3)
    statements.clear()

    # By what it knows, 3 could win as well; 3 has left the set meanwhile.
    one.heartbeat_source.heard[3] = replace(one.heartbeat_source.heard[3], max_offset=99)
    view = await one.replace_lost()

    assert (view.group.master_id, view.group.master_epoch) == (2, 2)
    assert statements == ["write_replica_group", "find_replica_groups", "write_replica_group"]


async def test_a_refusal_is_decided_from_what_was_just_read(drive):
    one, other = drive(), drive()
    await one.make_f3()
    await one.alter({1}, epoch=2)
    one.hear(2, 3)
    other.hear(1, 2, 3)
    await other.alter({1, 2}, epoch=3)

    # By its data no replica could be elected.
    assert (await one.replace_lost()).group.master_id == 2


async def test_a_master_that_only_another_process_hears_keeps_its_place(drive, database):
    one = drive()
    await one.make_f3()
    await hear_elsewhere(database, b1=ReplicaReport(0, HERE))
    one.hear(2, 3)

    assert (await one.replace_lost()).change is None


async def test_a_master_without_heartbeats_is_replaced(drive, database, statements):
    one = drive()
    await one.make_f3()
    # The other process may stand still itself, so its master has another lease (D28).
    await hear_elsewhere(database, b1=ReplicaReport(2 * HERE + 1, HERE))
    one.hear(2, 3)
    statements.clear()

    assert (await one.replace_lost()).group.master_id == 2
    assert statements == ["write_replica_group"]


async def test_what_another_process_heard_later_decides(drive, database):  # D11
    one = drive()
    await one.make_f3()
    one.heartbeat_source.heard = {
        2: ReplicaReport(500, HERE, max_offset=9),
        3: ReplicaReport(0, HERE),
    }
    await hear_elsewhere(database, b2=ReplicaReport(0, HERE, max_offset=9, is_verified=False))

    assert (await one.replace_lost()).group.master_id == 3


async def test_a_lease_also_binds_a_known_group_too(drive, database, statements):  # D9
    one = drive(lease_policy=LeasePolicy.STRICT)
    await one.make_f3()
    told = ReplicaReport(0, HERE, epoch=1)
    granted = await record_replica_reports(
        {}, lease_asked={KEY_1: told}, heard_by=one.heartbeat_source.id, database=database
    )
    assert granted == {KEY_1}
    one.hear(2, 3)
    statements.clear()

    with pytest.raises(MasterLeaseLive):
        await one.replace_lost()

    assert statements == ["write_replica_group", "find_replica_groups"]
    assert (await one.group()).master_id == 1


async def test_a_write_whose_end_is_unknown_is_forgotten(drive, monkeypatch):
    one = drive()
    await one.make_f3()
    one.hear(2, 3)
    write = table.write

    async def write_and_lose_the_answer(*arguments, **more):
        await write(*arguments, **more)
        raise ConnectionError("the answer was lost")

    monkeypatch.setattr(table, "write", write_and_lose_the_answer)
    with pytest.raises(ConnectionError):
        await one.replace_lost()
    monkeypatch.undo()

    view = await one.replace_lost()

    assert (view.change, view.group.master_id, view.group.master_epoch) == (None, 2, 2)


async def test_of_racing_processes_each_election_has_a_distinct_epoch(database_url, drive):
    """D4: every epoch is used once, and each answered winner has made the election."""
    databases = [open_database(database_url) for _ in range(3)]
    drivers = [drive(database=one, allows_unclean=True) for one in databases]
    await drivers[0].make_f3()
    for driver in drivers:
        driver.hear(1, 2, 3)

    async def elect_in_turn(driver, first_id):
        views = [await driver.elect((first_id + i) % 3 + 1, designated=True) for i in range(20)]
        return [view.group for view in views if view.change is not None]

    try:
        told = await asyncio.gather(
            *(elect_in_turn(driver, i) for i, driver in enumerate(drivers * 2))
        )
        controller = drivers[0].controller
        changes = await service.list_changes(
            BrokerGroupName("g", "c"), size=200, before=None, controller=controller
        )
        last = await drivers[0].group()
    finally:
        for one in databases:
            await one.dispose()

    elected = [c for c in reversed(changes.items) if c.kind is ChangeKind.MASTER_ELECTED]
    assert [c.master_epoch for c in elected] == list(range(1, len(elected) + 1))
    masters = {c.master_epoch: c.master_id for c in elected[1:]}
    assert {g.master_epoch: g.master_id for groups in told for g in groups} == masters
    assert sum(map(len, told)) == len(masters) > 20
    assert (last.master_epoch, last.master_id) == (len(elected), elected[-1].master_id)
