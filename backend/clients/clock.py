"""Read the time. Only this module reads the wall clock; all others receive a `Clock`.

The wall clock is for instants that are stored or shown. It can be set at any moment, so an age is a
difference of two readings of `elapsed_s`, never of the wall clock.
"""

import time
from datetime import UTC, datetime
from typing import Protocol


def elapsed_s() -> float:
    """Read a clock that is never set, and that also counts while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def elapsed_ms() -> float:
    """Read the same clock in milliseconds."""
    return elapsed_s() * 1000


class Clock(Protocol):
    """Return the time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...

    def now_ms(self) -> int:
        """Return the present instant as milliseconds since 1970, as the wire carries it."""
        ...


class SystemClock:
    """Return the time of this machine."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)

    def now_ms(self) -> int:
        """Return the present instant as milliseconds since 1970."""
        return int(self.now().timestamp() * 1000)
