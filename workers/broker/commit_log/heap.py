"""Keep what the C library got from the system, so that the loop does not ask for it every time.

Asking changes the memory map of the process, and waits for its lock, which the engine's helper
holds while it makes pages of the log present. Under load the loop asked, and gave back, hundreds of
times a second: chunks and answers come and go at the end of the heap.
"""

import ctypes
from typing import Final

# The names and numbers are those of malloc.h.
_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2
_M_MMAP_THRESHOLD: Final = -3

KEPT_BYTES: Final = 64 << 20
"""So much of the heap's end stays although nothing is in it."""

STEP_BYTES: Final = 4 << 20
"""By how much the heap grows at least."""

APART_BYTES: Final = 32 << 20
"""What is larger gets a map of its own; the C library takes no larger limit."""


def keep_heap() -> None:
    """Set the limits of this process, once; a C library without them works as before."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(_M_TOP_PAD, STEP_BYTES)
        mallopt(_M_MMAP_THRESHOLD, APART_BYTES)
