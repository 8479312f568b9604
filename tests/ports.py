"""Ports for servers of tests: below those of the kernel, and all different.

If several test processes look for ports at once, a free port may be taken before its server starts.
So each is reserved: a lock on the byte of its number in one file, which ends with the process that
holds it.
"""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

PORTS: Final = range(10_000, 15_000)
"""The range of single ports; clusters use higher ones (tests/system/cluster.py)."""

BEFORE, AFTER = 2, 1
"""A broker listens two below its port, and replicas reach it at the one above."""

_FILE: Final = Path(tempfile.gettempdir()) / f"regent-test-ports-{os.getuid()}"
_reserved: set[int] = set()
_descriptors: list[int] = []


class NoFreePortError(AssertionError):
    """Every place is taken."""


def free_port() -> int:
    """Reserve a port with the two below and the one above it, as a broker takes them."""
    size = BEFORE + 1 + AFTER
    return free_range(PORTS, size, needed=range(size)) + BEFORE


def free_range(ports: range, size: int, *, needed: Collection[int]) -> int:
    """Reserve a range of ports in which nothing listens at the needed offsets; give its first.

    Raises NoFreePortError if there is none.
    """
    places = range(ports.start, ports.stop - size + 1, size)
    # Ports that this process had before come last: a server may be about to start there again.
    for first in sorted(random.sample(places, len(places)), key=_reserved.__contains__):
        if _reserve(first, size) and all(_is_free(first + offset) for offset in needed):
            return first
    raise NoFreePortError(f"no {size} free ports in {ports}")


def _reserve(first: int, size: int) -> bool:
    if not _descriptors:
        # One for all, never closed: any close would end every lock of the process.
        _descriptors.append(os.open(_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    try:
        fcntl.lockf(_descriptors[0], fcntl.LOCK_EX | fcntl.LOCK_NB, size, first)
    except OSError:
        return False
    _reserved.add(first)
    return True


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
