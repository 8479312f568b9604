"""Notices of Postgres are heard in order, each once, and a lost connection is reported."""

import asyncio

import psycopg
import pytest
from sqlalchemy import text

from backend.db.notices import listen
from tests.waiting import eventually

COUNT = 2_000


async def test_all_notices_are_heard_in_order(database):
    notify = text(
        "SELECT pg_notify(CASE number % 2 WHEN 0 THEN 'even' ELSE 'odd' END, number::text)"
        "  FROM generate_series(1, :count) AS number"
    )

    async with listen(database, "even", "odd", application_name="ears") as payloads:
        async with database.begin() as connection:
            await connection.execute(notify, {"count": COUNT})
        heard = [await anext(payloads) for _ in range(COUNT)]
        async with database.begin() as connection:
            await connection.execute(notify, {"count": 1})
        heard.append(await anext(payloads))

    assert heard == [*map(str, range(1, COUNT + 1)), "1"]


async def test_a_listener_learns_that_the_connection_is_gone(database):
    cut = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ears'"
    )

    async with listen(database, "even", application_name="ears") as payloads:
        async with database.begin() as connection:
            await connection.execute(cut)
        with pytest.raises(psycopg.Error):
            await anext(payloads)


async def test_who_stops_listening_leaves_nothing_behind(database):
    async with listen(database, "even", application_name="ears") as payloads:
        listening = asyncio.ensure_future(anext(payloads))
        await asyncio.sleep(0.01)
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening

    async def is_gone():
        count = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ears'")
        async with database.begin() as connection:
            return not await connection.scalar(count)

    await eventually(is_gone)
