"""Background tasks end, also when a library swallows a request to cancel."""

import asyncio
import inspect

from backend.services.background import end_tasks


async def swallow(count):
    for _ in range(count):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue
    await asyncio.Event().wait()


async def test_a_swallowed_cancellation_is_repeated():
    task = asyncio.create_task(swallow(2))
    await asyncio.sleep(0)
    await end_tasks([task])
    assert task.cancelled()


async def test_what_a_task_raised_is_left_to_its_owner():
    async def fail():
        raise RuntimeError("mine")

    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    await end_tasks([task])
    assert isinstance(task.exception(), RuntimeError)


async def test_a_task_that_has_not_begun_leaves_no_coroutine_behind():
    async def wait():
        await asyncio.Event().wait()

    async def await_other(other):
        await other

    other = wait()
    await end_tasks([asyncio.create_task(await_other(other))])
    assert inspect.getcoroutinestate(other) == inspect.CORO_CLOSED
