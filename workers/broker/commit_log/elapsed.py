"""Read the clock that ages are counted by. It is never set, unlike the wall clock.

An age is a difference of two readings of this clock. The wall clock is for instants that are stored
or shown.
"""

import time


def elapsed_s() -> float:
    """Read a clock that is never set, and that also counts while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def elapsed_ms() -> int:
    """Read the same clock in whole milliseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
