"""A pool goes on after its server has closed what it held."""

import asyncio

import psycopg
import pytest
from sqlalchemy import text

HELD_COUNT = 3


async def use_at_once(database):
    async def use():
        async with database.connect() as connection:
            return await connection.scalar(text("SELECT pg_backend_pid() FROM pg_sleep(0.05)"))

    return set(await asyncio.gather(*(use() for _ in range(HELD_COUNT))))


@pytest.fixture
async def watcher(database_url):
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        yield connection


async def test_connections_that_the_server_has_closed_are_replaced(database, watcher, eventually):
    held = await use_at_once(database)
    assert len(held) == HELD_COUNT

    await watcher.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s) AS pid", [list(held)])

    async def are_gone():
        living = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
        row = await (await watcher.execute(living, [list(held)])).fetchone()
        return row == (0,)

    await eventually(are_gone)
    assert not held & await use_at_once(database)
