"""The client of the tests ends when it is cancelled."""

import asyncio

import pytest

from tests.integration.broker.client import patiently


async def test_a_call_that_is_cancelled_as_its_answer_comes_ends():
    answer = asyncio.get_running_loop().create_future()
    call = asyncio.ensure_future(patiently(answer))
    await asyncio.sleep(0)

    answer.set_result("answer")
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
