"""A pool goes on after its server has closed what it held."""

import asyncio

import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from backend.db.engine import open_database

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


ADD = text(
    "INSERT INTO users (name, password_hash, role, created_at) VALUES ('ann', '', 'viewer', now())"
)
SET_ROLE = text("UPDATE users SET role = :role WHERE name = 'ann'")


async def test_a_stalled_transaction_lets_others_go_on(database, database_url, monkeypatch):
    # Long enough for what is done before it stands still, and less than others wait for a lock.
    monkeypatch.setattr("backend.db.engine.IDLE_TRANSACTION_TIMEOUT_MS", 2_000)
    paused = open_database(database_url)
    async with database.begin() as connection:
        await connection.execute(ADD)

    async def stand_still():
        async with paused.begin() as held:
            await held.execute(SET_ROLE, {"role": "admin"})
            async with database.begin() as connection:
                await connection.execute(SET_ROLE, {"role": "operator"})

    with pytest.raises(OperationalError):
        await stand_still()
    await paused.dispose()

    async with database.connect() as connection:
        assert await connection.scalar(text("SELECT role FROM users")) == "operator"


async def test_what_a_transaction_did_before_an_error_is_undone(database):
    async def fail():
        async with database.begin() as connection:
            await connection.execute(ADD)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    async with database.connect() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM users")) == 0


async def test_a_statement_reads_what_is_committed_whatever_the_servers_default_is(
    database_url, watcher
):
    name = make_url(database_url).database
    await watcher.execute(
        f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
    )
    database = open_database(database_url)
    try:
        async with database.connect() as connection:
            shown = await connection.scalar(text("SHOW transaction_isolation"))
            assert shown == "read committed"
        async with database.begin() as connection:
            shown = await connection.scalar(text("SHOW transaction_isolation"))
            assert shown == "read committed"
    finally:
        await database.dispose()
        await watcher.execute(f"ALTER DATABASE {name} RESET default_transaction_isolation")
