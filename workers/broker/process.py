"""Prepare the process of a broker or of a container, and run it until a signal stops it.

An error that an operator can fix gives one line on standard error and exit code 2. Examples are
settings, a port in use, or a store that another process holds.
"""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Final, Protocol

import uvloop
from regent_engine import StoreError

from backend.open_files import allow_open_files
from workers.broker.commit_log.heap import keep_heap
from workers.broker.commit_log.log import configure_log
from workers.broker.configuration.declaration import InvalidSetting
from workers.broker.listening import PortInUse
from workers.broker.replication.identity import IdentityMismatch
from workers.broker.tables.state_file import StateFileUnreadable

EXIT_FAILED: Final = 1
EXIT_UNUSABLE: Final = 2

UNUSABLE: Final = (
    InvalidSetting,
    PortInUse,
    StoreError,
    StateFileUnreadable,
    IdentityMismatch,
    OSError,
)
"""Errors of a start that an operator can fix."""


class Server(Protocol):
    """What runs in a process: one broker, or a container of several."""

    failed: asyncio.Event

    async def start(self) -> None:
        """Serve."""

    async def close(self) -> None:
        """Stop cleanly."""


def prepare() -> None:
    """Set up log, memory and limits of this process."""
    configure_log()
    keep_heap()
    allow_open_files()


def refuse(program: str, config: Path | None, error: Exception) -> int:
    """Write why a process can't start, and return its exit code."""
    place = f"{config}: " if config and isinstance(error, InvalidSetting) else ""
    sys.stderr.write(f"{program}: {place}{reason_of(error)}\n")
    return EXIT_UNUSABLE


def reason_of(error: Exception) -> str:
    """Return the text of an error, with the file that an error of the system is about."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def run(server: Server, *, restart_wanted: asyncio.Event | None = None) -> int | None:
    """Serve until a signal or a failure ends it, and return the exit code of the process.

    None if the server wants to start again, which the event says.
    """
    return uvloop.run(_serve(server, restart_wanted))


async def _serve(server: Server, restart_wanted: asyncio.Event | None) -> int | None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    events = [stopped, server.failed, *([restart_wanted] if restart_wanted else [])]
    endings = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await server.start()
        await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await server.close()
        for ending in endings:
            ending.cancel()
    if server.failed.is_set():
        return EXIT_FAILED
    return 0 if stopped.is_set() else None
