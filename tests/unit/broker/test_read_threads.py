"""Reads on separate threads, and what becomes of them at a stop."""

import asyncio
import threading

import pytest

from tests.waiting import PATIENCE_S
from workers.broker.commit_log.read_threads import COLD_COUNT, PIECE_COUNT, ReadThreads
from workers.broker.errors import Refusal


async def test_a_stop_waits_for_reads_that_are_going_on_and_not_for_those_that_wait():
    threads, may_end, done = ReadThreads(), threading.Event(), []

    def read(number):
        assert may_end.wait(PATIENCE_S)
        done.append(number)

    reads = [
        asyncio.ensure_future(threads.read(lambda at=number: read(at))) for number in range(100)
    ]
    await asyncio.sleep(0)
    stop = asyncio.ensure_future(threads.stop())
    # The reads that have not begun are over before those that have.
    given_up, _ = await asyncio.wait(reads[COLD_COUNT:], timeout=PATIENCE_S)
    may_end.set()
    await stop

    assert sorted(done) == list(range(COLD_COUNT))
    assert {read.cancelled() for read in given_up} == {True}
    assert len(given_up) == len(reads) - COLD_COUNT
    await asyncio.gather(*reads, return_exceptions=True)


async def test_a_read_has_its_turn_between_the_pieces_of_long_ones():
    threads, is_done = ReadThreads(), threading.Event()

    def look(number):
        assert number < PIECE_COUNT or is_done.wait(PATIENCE_S), "it has no turn"
        return number

    wanted = range(PIECE_COUNT * 2 + 1)
    long = [asyncio.ensure_future(threads.read_each(look, wanted)) for _ in range(COLD_COUNT)]
    await asyncio.sleep(0)
    await threads.read(is_done.set)

    assert await asyncio.gather(*long) == [list(wanted)] * COLD_COUNT
    await threads.stop()


@pytest.mark.parametrize("kind", ["read", "search", "measure"])
async def test_a_read_after_a_stop_learns_that_the_broker_stops(kind):
    threads = ReadThreads()
    await threads.stop()

    with pytest.raises(Refusal, match="stopping"):
        await getattr(threads, kind)(lambda: None)
