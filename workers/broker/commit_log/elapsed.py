"""Read the clock for ages. Unlike the wall clock, it is never set.

An age is the difference of two readings of this clock. The wall clock is for times that are stored
or shown.
"""

import time


def elapsed_s() -> float:
    """Read a clock that is never set, and that also runs while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def elapsed_ms() -> int:
    """Read the same clock in whole milliseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
