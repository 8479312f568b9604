"""End background tasks reliably.

One request to cancel is not always enough: a library may catch it while it connects, and continue.
So the request is repeated until the task has ended or the deadline has passed. The tasks must have
no child tasks: a task group that is already ending does not pass a second request to its children.
"""

import asyncio
from collections.abc import Collection
from typing import Final

import structlog

ASK_INTERVAL_S: Final = 0.2
DEADLINE_S: Final = 3.0

log = structlog.get_logger(__name__)


async def end_tasks(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until they have ended; their errors are not raised."""
    # Every task begins first: one that is cancelled before never closes what it would await.
    await asyncio.sleep(0)
    waiting = {task for task in tasks if not task.done()}
    ends_at = asyncio.get_running_loop().time() + DEADLINE_S
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=ASK_INTERVAL_S)
        if waiting and asyncio.get_running_loop().time() > ends_at:
            log.error("tasks_unended", tasks=sorted(task.get_name() for task in waiting))
            return
