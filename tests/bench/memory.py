"""Touch memory before measuring.

In a virtual machine, the first touch of a page that the host does not back costs ten times a
later one (targets.md 1.1: 3.3-8.3 against 0.5 microseconds; 15 were seen), and a balloon that
reports free pages gives freed memory back to the host within seconds. Files written during a
measurement would pay that for the page cache; it says nothing about who writes them.
"""

import mmap
import os
import tempfile
from pathlib import Path

import psutil

MADV_POPULATE_WRITE = 23
"""Since Linux 5.14; the module has no name for it."""

WRITE_SIZE = 256 << 10


def warm_memory(size: int) -> None:
    """Touch and free memory that the next seconds may fill, at most half of what is free."""
    size = _at_most_half(size)
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        # Small pages, as the page cache takes them for what is written through a map.
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        memory.madvise(MADV_POPULATE_WRITE)


def warm_page_cache(directory: Path, size: int) -> None:
    """Touch and free memory as the page cache takes it for long writes: in larger pieces.

    They come from other free memory than small pages do, which may be untouched for long.
    """
    chunk = bytes(WRITE_SIZE)
    with tempfile.TemporaryFile(dir=directory) as file:
        for at in range(0, _at_most_half(size), WRITE_SIZE):
            os.pwrite(file.fileno(), chunk, at)


def _at_most_half(size: int) -> int:
    return min(size, psutil.virtual_memory().available // 2)
