"""In each slot of a periodic task one run counts, and one that is lost is begun again."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module

import pytest
from sqlalchemy import text

from backend.clients.clock import SystemClock
from backend.domain.maintenance import PERIODIC_TASKS, PeriodicTask
from backend.services.controller.heartbeats import BrokerIdentity
from backend.services.controller.liveness import LivenessOutcome
from backend.services.upkeep.maintenance import list_tasks, run_in_slot
from tests.waiting import PATIENCE_S
from workers.tasks.base import TIME_LIMIT_S

HOUR = timedelta(hours=1)
TASK = PeriodicTask("findings.scan", HOUR, HOUR, HOUR)


@dataclass(frozen=True)
class Done:
    found_count: int


@pytest.fixture
async def run(database):
    # By Postgres's clock, with which the slot could end between two runs of a test.
    left = text("SELECT 3600 - mod(extract(epoch FROM clock_timestamp()), 3600)")
    async with database.connect() as connection:
        left_s = float(await connection.scalar(left))
    if left_s < PATIENCE_S:
        await asyncio.sleep(left_s)

    async def work_off(work, task=TASK):
        return await run_in_slot(task, work, database=database, clock=SystemClock())

    return work_off


@pytest.fixture
def shift(database):
    """Move the last run back in time, as if that long had passed since."""

    async def move(hours):
        statement = text("""
            UPDATE maintenance_runs SET slot = slot - :hours,
                   began_at = began_at - make_interval(hours => :hours),
                   lost_at = lost_at - make_interval(hours => :hours),
                   ended_at = ended_at - make_interval(hours => :hours)""")
        async with database.begin() as connection:
            await connection.execute(statement, {"hours": hours})

    return move


async def done():
    return Done(3)


async def test_a_slot_is_worked_off_once_and_the_next_again(run, shift):
    first = await run(done)
    doubled = await run(done)
    await shift(1)

    assert (first, doubled) == (Done(3), None)
    assert await run(done) == Done(3)


async def test_of_runs_at_once_one_does_the_work(run):
    began = []

    async def work():
        began.append(True)
        await asyncio.sleep(0)
        return Done(1)

    outcomes = await asyncio.gather(*(run(work) for _ in range(6)))

    assert len(began) == 1
    assert sorted(outcomes, key=str) == [Done(1), *[None] * 5]


async def test_a_run_at_work_is_not_joined_in_the_next_slot(run, shift):
    going, finish = asyncio.Event(), asyncio.Event()

    async def slow():
        going.set()
        await finish.wait()
        return Done(1)

    first = asyncio.create_task(run(slow))
    await going.wait()
    # An hour later it has a few seconds left before it counts as lost.
    await shift(1)
    meanwhile = await run(done)
    finish.set()

    assert meanwhile is None
    assert await first == Done(1)


async def test_a_run_that_fails_gives_its_slot_back(run):
    async def fail():
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await run(fail)

    assert await run(done) == Done(3)


async def test_a_run_that_died_loses_its_slot_once_its_time_is_over(run, shift, database):
    await run(done)
    async with database.begin() as connection:
        await connection.execute(text("UPDATE maintenance_runs SET ended_at = NULL"))

    while_it_may_live = await run(done)
    await shift(2)

    assert while_it_may_live is None
    assert await run(done) == Done(3)


@pytest.mark.parametrize("was_lost", [False, True])
async def test_a_clock_that_is_set_back_holds_no_task_up(run, shift, database, was_lost):
    await run(done)
    if was_lost:
        async with database.begin() as connection:
            await connection.execute(text("UPDATE maintenance_runs SET ended_at = NULL"))

    await shift(-3)

    assert (await run(done), await run(done)) == (Done(3), None)


async def test_tasks_are_listed_with_their_last_runs_and_who_is_overdue(run, shift, database):
    await run(done)
    fresh = await list_tasks(database=database, clock=SystemClock())
    await shift(24)
    late = await list_tasks(database=database, clock=SystemClock())

    assert [one.name for one in fresh] == sorted(PERIODIC_TASKS)
    [scan] = [one for one in fresh if one.name == TASK.name]
    assert (scan.is_overdue, scan.outcome) == (False, {"found_count": 3})
    assert [one.name for one in late if one.is_overdue] == [TASK.name]
    assert {one.is_overdue for one in late if one.name != TASK.name} == {None}


async def test_a_task_whose_runs_all_fail_or_die_is_overdue(run, shift, database):
    async def fail():
        raise ConnectionResetError

    await run(done)
    for _ in range(24):
        await shift(1)
        with pytest.raises(ConnectionResetError):
            await run(fail)
    [failing] = [
        one
        for one in await list_tasks(database=database, clock=SystemClock())
        if one.name == TASK.name
    ]
    await run(done)
    [well] = [
        one
        for one in await list_tasks(database=database, clock=SystemClock())
        if one.name == TASK.name
    ]

    assert (failing.is_overdue, failing.ended_at) == (True, None)
    assert (well.is_overdue, well.outcome) == (False, {"found_count": 3})


async def test_a_row_that_every_user_may_read_names_no_cluster(run, database):
    async def give_up():
        return LivenessOutcome((BrokerIdentity("hidden-9", "broker-a", 0),), unjudged_count=4)

    await run(give_up)
    listed = await list_tasks(database=database, clock=SystemClock())

    assert [one.outcome for one in listed if one.name == TASK.name] == [
        {"offline": 1, "unjudged_count": 4}
    ]


def test_every_periodic_task_is_on_the_schedule_and_has_a_function(monkeypatch, tmp_path):
    monkeypatch.setenv("REGENT_DATABASE_URL", "postgresql:///regent")
    monkeypatch.setenv("REGENT_REDIS_URL", f"unix://{tmp_path}/redis.sock")
    for name in ("HISTORY_DIR", "REPORT_DIR"):
        monkeypatch.setenv(f"REGENT_{name}", str(tmp_path))
    celery_app = import_module("workers.celery_app")
    import_module("workers.tasks")

    assert set(celery_app.SCHEDULE) == {*PERIODIC_TASKS, "operations.reconcile"}
    assert set(celery_app.SCHEDULE) <= set(celery_app.app.tasks)
    for task in PERIODIC_TASKS.values():
        assert task.sent_every <= task.interval / 2
        assert task.deadline < timedelta(seconds=TIME_LIMIT_S)
