"""Complete work that must not be interrupted, also after a cancellation."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Complete the work; a cancelled caller waits for its end, so that nothing runs beside it."""
    task = asyncio.ensure_future(work)
    is_given_up = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_given_up = True
    if is_given_up:
        raise asyncio.CancelledError from task.exception()
    task.result()
