"""Wait in tests for what is to happen, with a limit that only a failing test reaches."""

import asyncio
import time
from typing import Final

PATIENCE_S: Final = 60.0
"""For whatever another task or process does: a busy machine may take long, a test never sees it."""

ATTEMPT_COUNT_MAX: Final = 6
"""For what is to take no longer than so: a busy machine stretches some attempts, a fault all."""

POLL_S_MIN, POLL_S_MAX = 0.01, 0.1


def poll_s(begun_s: float, *, least_s: float = POLL_S_MIN) -> float:
    """Give the seconds until the next poll of a wait that began at a moment of the monotonic clock.

    They are a tenth of the wait so far, within bounds: each poll takes processor time from what is
    waited for, and a short wait is still noticed at once.
    """
    return max(least_s, min((time.monotonic() - begun_s) / 10, POLL_S_MAX))


async def eventually(
    condition, *, timeout_s: float = PATIENCE_S, interval_s: float = POLL_S_MIN, seen=None
):
    """Poll a condition, plain or awaitable, until it holds; fail at the deadline.

    The failure shows what the function `seen` returns.
    """
    begun_s = time.monotonic()
    while True:
        outcome = condition()
        if asyncio.iscoroutine(outcome):
            outcome = await outcome
        if outcome:
            return outcome
        waited_s = time.monotonic() - begun_s
        assert waited_s < timeout_s, ("the condition did not come to hold in time", seen and seen())
        await asyncio.sleep(poll_s(begun_s, least_s=interval_s))
