"""The pipeline over a real Postgres: each statement has a separate outcome."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
import uvloop
from sqlalchemy import text
from sqlalchemy.exc import DataError, OperationalError

from backend.db.engine import connect, open_database
from backend.db.pipeline import LANE_COUNT_MAX, Statement, pipeline_of
from tests.waiting import PATIENCE_S

ADD = Statement("add", "INSERT INTO told (n) VALUES (CAST(:n AS bigint)) RETURNING n")
DIVIDE = Statement("divide", "SELECT 10 / CAST(:n AS bigint)")
SLEEP = Statement("sleep", "SELECT CAST(:n AS bigint) FROM pg_sleep(CAST(:seconds AS float8))")
NOTIFY = Statement("notify", "SELECT pg_notify('told', CAST(:n AS text))")
LANES = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'regent-pipeline'"
LANES_HERE = f"{LANES} AND datname = current_database()"
SLEEPING = f"{LANES_HERE} AND wait_event = 'PgSleep'"


@pytest.fixture
async def pipeline(database):
    async with database.begin() as connection:
        await connection.execute(text("CREATE TABLE told (n bigint PRIMARY KEY)"))
    return pipeline_of(database)


async def scalar(database, sql):
    async with database.connect() as connection:
        return await connection.scalar(text(sql))


async def test_each_of_many_callers_gets_its_own_answer(pipeline, database):
    answers = await asyncio.gather(*(pipeline.fetch(ADD, {"n": n}) for n in range(200)))

    assert answers == [[[str(n)]] for n in range(200)]
    assert 1 < await scalar(database, LANES_HERE) <= LANE_COUNT_MAX


async def test_what_fails_fails_alone(pipeline):
    numbers = [5, 0, 2] * 30

    answers = await asyncio.gather(
        *(pipeline.fetch(DIVIDE, {"n": n}) for n in numbers), return_exceptions=True
    )

    for n, answer in zip(numbers, answers, strict=True):
        if n:
            assert answer == [[str(10 // n)]]
        else:
            assert isinstance(answer, OperationalError)
            assert isinstance(answer.orig, psycopg.errors.DivisionByZero)


async def test_a_caller_that_gives_up_disturbs_no_other(pipeline):
    waiting = [
        asyncio.create_task(pipeline.fetch(SLEEP, {"n": n, "seconds": "0.2"})) for n in range(20)
    ]
    await asyncio.sleep(0)
    for task in waiting[::2]:
        task.cancel()

    answers = await asyncio.gather(*waiting, return_exceptions=True)

    assert answers[1::2] == [[[str(n)]] for n in range(1, 20, 2)]
    assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[::2])


async def test_a_lost_connection_is_reported_and_replaced(pipeline, database, eventually):
    waiting = asyncio.create_task(pipeline.fetch(SLEEP, {"n": 1, "seconds": "60"}))

    async def is_asleep():
        return await scalar(database, SLEEPING)

    await eventually(is_asleep)
    await scalar(database, LANES_HERE.replace("count(*)", "count(pg_terminate_backend(pid))"))

    with pytest.raises(OperationalError):
        await waiting
    assert await pipeline.fetch(ADD, {"n": 1}) == [["1"]]


def test_a_connection_that_is_reset_is_reported_under_uvloop_too(database_url):
    """It stops to watch such a socket, without a report: 60 s of silence without a check."""

    async def lose_a_statement_unread():
        database = open_database(database_url)
        pipeline = pipeline_of(database)
        [[pid]] = await pipeline.fetch(Statement("pid", "SELECT pg_backend_pid()"), {})
        os.kill(int(pid), signal.SIGSTOP)
        try:
            unread = {"n": 1, "seconds": "60" + " " * 100_000}
            waiting = asyncio.create_task(pipeline.fetch(SLEEP, unread))
            await asyncio.sleep(0.1)
            os.kill(int(pid), signal.SIGTERM)
        finally:
            os.kill(int(pid), signal.SIGCONT)
        try:
            # Less than the silence.
            async with asyncio.timeout(PATIENCE_S / 2):
                await waiting
        finally:
            await database.dispose()

    with pytest.raises(OperationalError):
        uvloop.run(lose_a_statement_unread())


async def test_a_plan_that_became_void_is_made_again(pipeline, database):
    everything = Statement("everything", "SELECT * FROM told")
    await pipeline.fetch(ADD, {"n": 1})
    assert await pipeline.fetch(everything, {}) == [["1"]]
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE told ADD COLUMN more text"))

    with pytest.raises(OperationalError):
        await pipeline.fetch(everything, {})

    assert await pipeline.fetch(everything, {}) == [["1", None]]


async def test_a_notified_statement_is_committed(pipeline, database):
    async with await connect(database.url, application_name="ear") as ear:
        await ear.execute("LISTEN told")
        for n in (7, 8):
            await pipeline.fetch(ADD, {"n": n})
            pipeline.notify("told", str(n))

        told = [notice.payload async for notice in ear.notifies(timeout=PATIENCE_S, stop_after=2)]
        cursor = await ear.execute("SELECT n FROM told ORDER BY n")

        assert told == ["7", "8"]
        assert await cursor.fetchall() == [(7,), (8,)]


async def test_values_arrive_as_they_were(pipeline):
    at, number = datetime(2026, 11, 21, 1, 2, 3, 4, tzinfo=UTC), uuid4()
    values = {"at": at, "id": number, "flag": False, "nothing": None, "numbers": [-1, 2]} | {
        "texts": ['a"b', "c\\d", "{,}", "", "NULL", "é"],
    }
    echo = Statement(
        "echo",
        """
SELECT CAST(:at AS timestamptz) = '2026-11-21 01:02:03.000004+00', CAST(:id AS uuid),
       CAST(:flag AS boolean), CAST(:nothing AS text), to_json(CAST(:numbers AS bigint[])),
       array_to_string(CAST(:texts AS text[]), ';')
""",
    )

    [row] = await pipeline.fetch(echo, values)

    assert row == ["t", str(number), "f", None, "[-1,2]", 'a"b;c\\d;{,};;NULL;é']


async def test_a_text_with_a_nul_is_refused_and_not_cut(pipeline):
    with pytest.raises(DataError):
        await pipeline.fetch(NOTIFY, {"n": "a\0b"})


async def test_a_pool_that_is_disposed_of_takes_its_pipeline_along(
    database_url, database, eventually
):
    other = open_database(database_url)
    pipeline = pipeline_of(other)
    await pipeline.fetch(DIVIDE, {"n": 1})
    waiting = asyncio.create_task(pipeline.fetch(SLEEP, {"n": 1, "seconds": "1"}))
    await asyncio.sleep(0)

    await other.dispose()

    with pytest.raises(OperationalError):
        await waiting

    async def is_alone():
        return await scalar(database, LANES_HERE) == 0

    await eventually(is_alone)


async def test_a_database_that_does_not_answer_is_an_error_of_the_caller(tmp_path):
    pipeline = pipeline_of(open_database(f"postgresql:///x?host={tmp_path}"))

    with pytest.raises(OperationalError):
        await pipeline.fetch(DIVIDE, {"n": 1})
