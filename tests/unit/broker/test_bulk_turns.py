"""Connections that take much are served in turns of the loop, and the others between them."""

import asyncio

import pytest

from workers.broker.commit_log.bulk_turns import BulkTurns

TURN_COUNT = 8


class Loop:
    """Turns of the loop by a clock that only they move: what is served in each of them."""

    def __init__(self, *, others_take=0):
        self.now, self.others_take = 0, others_take
        self.turns = BulkTurns(lambda: self.now)
        self.seen = []

    def wait(self, name, *, takes=1, then=lambda: None):
        def serve():
            self.now += takes
            self.seen.append(name)
            then()

        return self.turns.wait(serve)

    async def run(self):
        for _ in range(TURN_COUNT):
            self.now += self.others_take
            await asyncio.sleep(0)
            self.seen.append("|")
        return "".join(self.seen).rstrip("|")


async def test_one_is_served_a_turn_in_the_order_in_which_they_came():
    loop = Loop()
    for name in "abc":
        loop.wait(name)

    assert await loop.run() == "a|b|c"


async def test_who_comes_while_another_is_served_waits_for_the_next_turn():
    loop = Loop()
    loop.wait("a", then=lambda: loop.wait("c"))
    loop.wait("b")

    assert await loop.run() == "a|b|c"


async def test_they_have_as_much_time_as_the_others_had():
    loop = Loop(others_take=3)
    for name in "abcdefgh":
        loop.wait(name)

    assert await loop.run() == "abc|def|gh"


async def test_one_that_takes_longer_than_the_others_had_is_the_last_of_its_turn():
    loop = Loop(others_take=3)
    loop.wait("a")
    loop.wait("b", takes=9)
    for name in "cdef":
        loop.wait(name)

    assert await loop.run() == "ab|cde|f"


async def test_who_has_given_up_takes_no_turn_and_costs_none():
    loop = Loop()
    for turn in (loop.wait("a"), loop.wait("b")):
        turn.cancel()
    loop.wait("c")
    loop.wait("d").cancel()

    assert await loop.run() == "c"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_one_that_fails_takes_no_other_turn():
    loop, reported = Loop(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    loop.wait("a", then=lambda: 1 / 0)
    loop.wait("b")

    assert await loop.run() == "a|b"
    assert isinstance(reported[0]["exception"], ZeroDivisionError)
