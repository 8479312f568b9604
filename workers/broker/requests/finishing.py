"""Do all of something that must not be left half way, also when it is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Do all of something; who gives it up waits for its end, for nobody may go on beside it."""
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
