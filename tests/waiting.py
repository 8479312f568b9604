"""Wait in tests for what is to happen, with a limit that only a failing test reaches."""

import asyncio
import time
from typing import Final

PATIENCE_S: Final = 60.0
"""For whatever another task or process does: a busy machine may take long, a test never sees it."""

ATTEMPT_COUNT_MAX: Final = 6
"""For what is to take no longer than so: a busy machine stretches some attempts, a fault all."""


async def eventually(condition, *, timeout_s: float = PATIENCE_S, interval_s: float = 0.01):
    """Poll a condition, plain or awaitable, until it holds; fail at the deadline."""
    deadline = time.monotonic() + timeout_s
    while True:
        outcome = condition()
        if asyncio.iscoroutine(outcome):
            outcome = await outcome
        if outcome:
            return outcome
        assert time.monotonic() < deadline, "the condition did not come to hold in time"
        await asyncio.sleep(interval_s)
