import asyncio
from collections.abc import Sequence

import pytest

from backend.brokers.errors import NoAnswer
from backend.services.logical_queue.combining import Combined
from tests.waiting import eventually


class Calls:
    """Calls that each wait until they may end; odd numbers have errors."""

    def __init__(self) -> None:
        self.begun: list[list[int]] = []
        self.ends: list[asyncio.Event] = []
        self.error: Exception | None = None

    async def carry_out(self, numbers: Sequence[int]) -> list[str | Exception]:
        self.begun.append(list(numbers))
        self.ends.append(asyncio.Event())
        await self.ends[-1].wait()
        if self.error is not None:
            raise self.error
        return [ValueError(f"{one} is odd") if one % 2 else str(one) for one in numbers]

    async def end(self, number: int) -> None:
        """Let a call end as soon as it has begun."""
        await eventually(lambda: len(self.begun) > number)
        self.ends[number].set()


def ask_all(calls: Calls, *numbers: int) -> list[asyncio.Task[str]]:
    """Ask for several numbers at the same time."""
    combined = Combined(calls.carry_out)
    return [asyncio.create_task(combined.ask(one)) for one in numbers]


async def test_requests_that_come_during_a_call_share_the_next_one():
    calls = Calls()
    tasks = ask_all(calls, 0, 2, 4, 6)

    await calls.end(0)
    await calls.end(1)

    assert [await one for one in tasks] == ["0", "2", "4", "6"]
    assert calls.begun == [[0], [2, 4, 6]]


async def test_a_refused_request_leaves_those_beside_it_alone():
    calls = Calls()
    tasks = ask_all(calls, 0, 1, 2)

    await calls.end(0)
    await calls.end(1)

    assert (await tasks[0], await tasks[2]) == ("0", "2")
    with pytest.raises(ValueError, match="1 is odd"):
        await tasks[1]


async def test_a_call_that_fails_fails_all_that_it_carried_and_none_after_it():
    calls = Calls()
    calls.error = NoAnswer("127.0.0.1:1", "it is silent")
    tasks = ask_all(calls, 0, 2)
    await calls.end(0)
    with pytest.raises(NoAnswer):
        await tasks[0]

    calls.error = None
    await calls.end(1)

    assert await tasks[1] == "2"


async def test_a_cancelled_call_leaves_its_other_requests_to_the_next_one():
    calls = Calls()
    tasks = ask_all(calls, 0, 2, 4)
    await calls.end(0)
    await tasks[0]
    await eventually(lambda: len(calls.begun) == 2)

    tasks[1].cancel()
    await calls.end(2)

    assert calls.begun == [[0], [2, 4], [4]]
    assert await tasks[2] == "4"
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
