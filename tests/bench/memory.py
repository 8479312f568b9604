"""Touch memory before measuring.

In a virtual machine, the first touch of a page that the host does not back costs ten times a
later one (targets.md 1.1: 3.3-8.3 against 0.5 microseconds; 15 were seen), and a balloon that
reports free pages gives freed memory back to the host within seconds. Files written during a
measurement would pay that for the page cache; it says nothing about who writes them.
"""

import mmap

import psutil

MADV_POPULATE_WRITE = 23
"""Since Linux 5.14; the module has no name for it."""


def warm_memory(size: int) -> None:
    """Touch and free memory that the next seconds may fill, at most half of what is free."""
    size = min(size, psutil.virtual_memory().available // 2)
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        # Small pages, as the page cache takes them.
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        memory.madvise(MADV_POPULATE_WRITE)
