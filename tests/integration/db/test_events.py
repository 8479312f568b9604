"""Numbers of events: in the order of commits, without gaps, whatever happens to who gives them."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from backend.clients.clock import SystemClock
from backend.db import events
from backend.domain.event import EventFilter
from backend.domain.event_errors import EventsExpired
from backend.services.upkeep.events import expire_events, list_events, number_events
from tests.integration.api.event_clients import new_event, write, write_at_random

ALL = EventFilter()


@pytest.fixture
def subjects(database):
    """List the subjects of all events that have a number, by number."""

    async def read(after=0):
        page = await list_events(after=after, size=500, chosen=ALL, database=database)
        numbers = [event.number for event in page.events]
        assert numbers == list(range(after + 1, after + 1 + len(numbers)))
        return [event.subject for event in page.events]

    return read


async def test_a_transaction_that_commits_late_is_behind_what_was_read_before(database, subjects):
    async with database.begin() as slow:
        await events.stage(slow, [new_event("began first")])
        await write(database, new_event("ended first"))
        await number_events(database=database)
        read_meanwhile = await subjects()
        await slow.commit()
    await number_events(database=database)

    assert read_meanwhile == ["ended first"]
    assert await subjects(after=1) == ["began first"]


async def test_a_rolled_back_event_is_never_delivered(database, subjects):
    async with database.begin() as connection:
        await events.stage(connection, [new_event("never")])
        await connection.rollback()
    await write(database, new_event("a"), new_event("b"))
    await number_events(database=database)

    assert await subjects() == ["a", "b"]


async def test_many_who_give_numbers_at_once_give_each_event_one(database, subjects):
    writing = asyncio.create_task(write_at_random(database, count=300, per_second=2_000))
    given = 0
    while not writing.done():
        given += sum(await asyncio.gather(*(number_events(database=database) for _ in range(3))))
    given += await number_events(database=database)

    assert given == len(await subjects()) == 300


async def test_who_dies_while_giving_numbers_leaves_all_for_the_next(database, subjects):
    await write(database, new_event("a"), new_event("b"))

    async def number_and_die():
        async with database.begin() as connection:
            assert await events.number_staged(connection) == 2
            await connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with pytest.raises(SQLAlchemyError):
        await number_and_die()
    assert await subjects() == []

    await number_events(database=database)
    assert await subjects() == ["a", "b"]


async def test_expiry_beside_writers_never_leaves_a_gap_unreported(database):
    writing = asyncio.create_task(write_at_random(database, count=400, per_second=2_000))
    position, told, expired = 0, [], 0
    while not writing.done() or position < 400:
        await number_events(database=database)
        await expire_events(
            kept_max=20, kept_for=timedelta(days=1), database=database, clock=SystemClock()
        )
        try:
            page = await list_events(after=position, size=7, chosen=ALL, database=database)
        except EventsExpired as error:
            expired += 1
            position = error.oldest_number - 1
            continue
        told += [event.number for event in page.events]
        assert [event.number for event in page.events] == list(
            range(position + 1, position + 1 + len(page.events))
        )
        position = page.next_after
    await writing

    assert expired > 0
    assert told == sorted(set(told))
