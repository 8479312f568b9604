"""Keep the heap's memory in the process, so that the loop does not request it each time.

A request changes the memory map of the process, and waits for its lock. The engine's helper holds
that lock while it makes pages of the log present. Under load the loop requested and released memory
hundreds of times a second. Chunks and answers are allocated and freed at the end of the heap.
"""

import ctypes
from typing import Final

# The names and numbers are those of malloc.h.
_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_THRESHOLD: Final = -3

KEPT_BYTES: Final = 64 << 20
"""This much of the heap's end is kept when free."""

STEP_BYTES: Final = 4 << 20
"""The smallest growth of the heap."""

APART_BYTES: Final = 32 << 20
"""Larger allocations get their own map; the C library accepts no larger limit."""


def keep_heap() -> None:
    """Set the limits of this process, once; a C library without them works as before."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(_M_TOP_PAD, STEP_BYTES)
        mallopt(_M_MMAP_THRESHOLD, APART_BYTES)
