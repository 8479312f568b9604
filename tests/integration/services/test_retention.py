"""What is older than it is kept goes, nothing else does, and the audit's chain still holds."""

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from uuid import uuid4

import pytest
from sqlalchemy import func, insert, select, text

from backend.clients.sample_history import SampleHistory
from backend.db import audit, retention, sample_files
from backend.db.audit import AuditedAction
from backend.db.maintenance_tables import findings
from backend.db.operation_tables import (
    audit_entries,
    idempotency_keys,
    operation_steps,
    operations,
)
from backend.db.sample_files import SampleFile
from backend.db.share_tables import share_incidents
from backend.db.tables import replica_group_changes
from backend.domain.audit import ChainEnd
from backend.domain.operation import Author
from backend.domain.retention import CHANGES_KEPT_MIN, RetentionPolicy, Subject
from backend.services.access.audit import verify_chain
from backend.services.upkeep import retention as use_case
from backend.services.upkeep.retention import apply_retention, preview_retention
from tests.integration.tasks.conftest import NOON, SetClock

DAY = timedelta(days=1)
OLD, NEW = NOON - 40 * DAY, NOON - DAY
POLICY = RetentionPolicy(*(30 * DAY,) * 7, events_max=1_000)
WORKER = Author("worker", "worker")


@pytest.fixture
def clock():
    return SetClock()


@pytest.fixture
def history(tmp_path):
    return SampleHistory(tmp_path)


@pytest.fixture
def apply(database, clock, history):
    async def run(policy=POLICY):
        return await apply_retention(
            policy, author=WORKER, history=history, database=database, clock=clock
        )

    return run


@pytest.fixture
def count(database):
    async def rows(table):
        async with database.connect() as connection:
            return await connection.scalar(select(func.count()).select_from(table))

    return rows


async def add_entries(database, *instants):
    for at in instants:
        async with database.begin() as connection:
            await audit.append(
                connection, AuditedAction(WORKER, "test", "c", "s", {"at": str(at)}), at=at
            )


async def add_operation(database, *, ended_at, undoes=None):
    values = {
        "id": uuid4(),
        "kind": "k",
        "cluster_name": "c",
        "target": "t",
        "state": "done",
        "parameters": {},
        "plan": {},
        "read_back": [],
        "requested_by": "anna",
        "fence": 0,
        "planned_at": OLD,
        "expires_at": OLD,
        "ended_at": ended_at,
        "undoes": undoes,
    }
    step = {"operation_id": values["id"], "position": 1, "name": "s", "title": "s"}
    step |= {"state": "done", "attempt_count": 1}
    key = {"user_name": "anna", "key": str(values["id"]), "request_hash": b"h"}
    key |= {"operation_id": values["id"], "created_at": OLD}
    async with database.begin() as connection:
        await connection.execute(insert(operations).values(**values))
        await connection.execute(insert(operation_steps).values(**step))
        await connection.execute(insert(idempotency_keys).values(**key))
    return values["id"]


async def add_changes(database, number, *, at, group="g"):
    row = {"cluster_name": "c", "broker_group_name": group, "kind": "master_elected", "cause": "t"}
    row |= {"changed_at": at, "master_epoch": 1, "sync_state_set": [], "sync_state_set_epoch": 1}
    async with database.begin() as connection:
        rows = [row | {"replica_addresses": {}}] * number
        await connection.execute(insert(replica_group_changes).values(rows))


async def test_operations_go_with_their_journal_and_keys_and_living_ones_stay(
    database, apply, count
):
    await add_operation(database, ended_at=OLD)
    kept = [await add_operation(database, ended_at=at) for at in (NEW, None)]

    outcome = await apply()

    async with database.connect() as connection:
        left = set((await connection.execute(select(operations.c.id))).scalars())
    assert outcome.operation_count == 1
    assert left == set(kept)
    assert await count(operation_steps) == await count(idempotency_keys) == 2


async def test_an_operation_stays_for_as_long_as_one_that_takes_it_back(database, apply, count):
    first = await add_operation(database, ended_at=OLD)
    await add_operation(database, ended_at=NEW, undoes=first)
    second = await add_operation(database, ended_at=OLD)
    third = await add_operation(database, ended_at=OLD, undoes=second)
    await add_operation(database, ended_at=OLD, undoes=third)

    outcome = await apply()

    assert outcome.operation_count == 3
    assert await count(operations) == 2


async def test_the_newest_changes_of_each_group_stay_however_old(database, apply, count):
    await add_changes(database, CHANGES_KEPT_MIN + 30, at=OLD)
    await add_changes(database, 5, at=OLD, group="h")
    await add_changes(database, 10, at=NEW)

    outcome = await apply()

    assert outcome.group_change_count == 40
    assert await count(replica_group_changes) == CHANGES_KEPT_MIN + 5


async def test_closed_findings_go_and_open_ones_stay(database, apply, count):
    row = {"code": "two_masters", "cluster_name": "c", "evidence": {}, "first_evidence": {}}
    row |= {"suspected_at": OLD, "opened_at": OLD}
    rows = [row | {"subject": str(at), "closed_at": at} for at in (OLD, NEW, None)]
    async with database.begin() as connection:
        await connection.execute(insert(findings).values(rows))

    assert (await apply()).finding_count == 1
    assert await count(findings) == 2


async def test_incidents_that_are_over_go_and_open_ones_stay(database, apply, count):
    row = {"cluster_name": "c", "broker_group_name": "g", "broker_id": 2, "life": 1, "lane": 0}
    row |= {"kind": "lease_fenced", "is_named": False, "opened_at": OLD}
    rows = [
        row | {"epoch": epoch, "resolved_at": at, "resolution": at and "lease_ended"}
        for epoch, at in enumerate((OLD, NEW, None))
    ]
    async with database.begin() as connection:
        await connection.execute(insert(share_incidents).values(rows))

    assert (await apply()).incident_count == 1
    assert await count(share_incidents) == 2


async def test_samples_go_by_whole_days_from_the_manifest_and_the_disk(database, apply, tmp_path):
    files = []
    for day in (date(2026, 1, 1), date(2026, 3, 1)):
        path = f"broker_samples/cluster=c/day={day}/a.parquet"
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"rows")
        files.append(SampleFile("broker_samples", "c", day, path, 1, 4, NOON, NOON))
    orphan = tmp_path / "broker_samples/cluster=c/day=2025-12-01"
    orphan.mkdir()
    (tmp_path / "broker_samples/cluster=c/day=notes").mkdir()
    async with database.begin() as connection:
        await sample_files.add(connection, files, at=NOON)

    assert (await apply()).sample_file_count == 1

    async with database.connect() as connection:
        left = await sample_files.list_since(connection, date(2020, 1, 1))
    assert [file.path for file in left] == [files[1].path]
    names = {path.name for path in (tmp_path / "broker_samples/cluster=c").iterdir()}
    assert names == {"day=2026-03-01", "day=notes"}


async def test_the_chain_is_verified_from_the_checkpoint_that_an_entry_records(database, apply):
    await add_entries(database, *(OLD,) * 5, *(NEW,) * 3)

    outcome = await apply()
    found = await verify_chain(database=database)

    assert outcome.audit_entry_count == 5
    assert (found.fault, found.expired_number, found.checked_count, found.end.number) == (
        None,
        5,
        4,
        9,
    )
    again = await verify_chain(database=database, after=ChainEnd(7, await _hash_of(database, 7)))
    assert (again.fault, again.checked_count) == (None, 2)


async def test_numbers_go_on_where_all_that_came_before_was_deleted(database, apply):
    await add_entries(database, *(OLD,) * 3)

    first = await apply()
    second = await apply()

    assert (first.audit_entry_count, second.audit_entry_count) == (3, 0)
    found = await verify_chain(database=database)
    assert (found.fault, found.expired_number, found.end.number) == (None, 3, 4)


@pytest.mark.parametrize(
    ("tampering", "named"),
    [
        ("DELETE FROM audit_entries WHERE number = 6", 6),
        ("DELETE FROM audit_checkpoint", 1),
        ("DELETE FROM audit_entries WHERE number = 9", 5),
        ("UPDATE audit_checkpoint SET hash = sha256('x')", 5),
        ("UPDATE audit_entries SET details = details || ' ' WHERE number = 7", 7),
    ],
)
async def test_what_was_taken_out_or_changed_past_retention_is_named(
    database, apply, tampering, named
):
    await add_entries(database, *(OLD,) * 5, *(NEW,) * 3)
    await apply()
    async with database.begin() as connection:
        await connection.execute(text(tampering))

    found = await verify_chain(database=database)

    assert found.fault is not None
    assert found.fault.number == named


async def test_more_than_retention_deleted_is_not_covered_by_moving_the_checkpoint(database, apply):
    await add_entries(database, *(OLD,) * 5, *(NEW,) * 3)
    await apply()
    async with database.begin() as connection:
        await connection.execute(
            text("""
            UPDATE audit_checkpoint SET number = 7, hash = e.hash
              FROM audit_entries e WHERE e.number = 7""")
        )
        await connection.execute(text("DELETE FROM audit_entries WHERE number <= 7"))

    fault = (await verify_chain(database=database)).fault

    assert (fault.number, fault.reason) == (
        7,
        "all entries up to it are missing, and no entry records that retention deleted them",
    )


async def test_what_would_go_is_what_goes_and_looking_changes_nothing(
    database, apply, clock, count
):
    await add_entries(database, *(OLD,) * 5, *(NEW,) * 3)
    await add_operation(database, ended_at=OLD)
    await add_changes(database, CHANGES_KEPT_MIN + 30, at=OLD)

    told = await preview_retention(POLICY, database=database, clock=clock)
    entries = await count(audit_entries)
    outcome = await apply()

    expected = {one.subject: one.expired_count for one in told}
    assert entries == 8
    assert expected == {
        Subject.GROUP_CHANGES: outcome.group_change_count,
        Subject.OPERATIONS: outcome.operation_count,
        Subject.FINDINGS: 0,
        Subject.INCIDENTS: 0,
        Subject.EVENTS: 0,
        Subject.AUDIT: outcome.audit_entry_count,
        Subject.SAMPLES: 0,
    }
    assert all(
        not one.expired_count
        for one in await preview_retention(POLICY, database=database, clock=clock)
    )


async def test_runs_at_once_delete_once_and_leave_a_chain_that_holds(database, apply, monkeypatch):
    monkeypatch.setattr(use_case, "REMOVED_AT_ONCE_MAX", 3)
    await add_entries(database, *(OLD,) * 20, *(NEW,) * 3)
    for _ in range(10):
        await add_operation(database, ended_at=OLD)

    outcomes = await asyncio.gather(*(apply() for _ in range(4)))

    assert sum(one.audit_entry_count for one in outcomes) == 20
    assert sum(one.operation_count for one in outcomes) == 10
    found = await verify_chain(database=database)
    assert (found.fault, found.expired_number) == (None, 20)


@pytest.mark.parametrize("crash_after", range(4))
async def test_a_run_that_crashes_between_batches_is_gone_on_with(
    database, apply, monkeypatch, crash_after, count
):
    monkeypatch.setattr(use_case, "REMOVED_AT_ONCE_MAX", 3)
    await add_entries(database, *(OLD,) * 10, NEW)
    for _ in range(4):
        await add_operation(database, ended_at=OLD)
    calls, whole = [], retention.remove_operations

    async def crash(connection, **limits):
        removed = await whole(connection, **limits)
        calls.append(removed)
        if len(calls) > crash_after:
            # Removed, and not committed.
            raise ConnectionResetError
        return removed

    with monkeypatch.context() as patch:
        patch.setattr(retention, "remove_operations", crash)
        if crash_after < 3:
            with pytest.raises(ConnectionResetError):
                await apply()
            assert await count(operations) == 4 - sum(calls[:-1])
    await apply()

    assert await count(operations) == 0
    assert (await verify_chain(database=database)).fault is None


async def test_a_longer_policy_keeps_more(database, apply):
    await add_entries(database, *(OLD,) * 5, NEW)

    assert (await apply(replace(POLICY, audit=50 * DAY))).audit_entry_count == 0


async def _hash_of(database, number):
    async with database.connect() as connection:
        statement = select(audit_entries.c.hash).where(audit_entries.c.number == number)
        return bytes(await connection.scalar(statement))
