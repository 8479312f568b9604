"""Connections that take much are served one a turn of the loop."""

import asyncio

import pytest

from workers.broker.bulk_turns import BulkTurns


async def served(begin):
    """What is served by the turns of the loop, each of them closed by a mark."""
    seen = []
    begin(seen)
    for _ in range(8):
        await asyncio.sleep(0)
        seen.append("|")
    return "".join(seen).rstrip("|")


async def test_one_is_served_a_turn_in_the_order_in_which_they_came():
    turns = BulkTurns()

    def begin(seen):
        for name in "abc":
            turns.wait(lambda name=name: seen.append(name))

    assert await served(begin) == "a|b|c"


async def test_who_comes_while_another_is_served_waits_for_the_next_turn():
    turns = BulkTurns()

    def begin(seen):
        def serve():
            seen.append("a")
            turns.wait(lambda: seen.append("c"))

        turns.wait(serve)
        turns.wait(lambda: seen.append("b"))

    assert await served(begin) == "a|b|c"


async def test_who_has_given_up_takes_no_turn_and_costs_none():
    turns = BulkTurns()

    def begin(seen):
        for name in "abc":
            turn = turns.wait(lambda name=name: seen.append(name))
            if name != "c":
                turn.cancel()
        turn_of_last = turns.wait(lambda: seen.append("d"))
        turn_of_last.cancel()

    assert await served(begin) == "c"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_one_that_fails_takes_nobody_elses_turn():
    turns, told = BulkTurns(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    def begin(seen):
        turns.wait(lambda: 1 / 0)
        turns.wait(lambda: seen.append("b"))

    assert await served(begin) == "|b"
    assert isinstance(told[0]["exception"], ZeroDivisionError)
