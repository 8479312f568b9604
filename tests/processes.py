"""Stop a process at any point of its work."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Final

from tests.waiting import PATIENCE_S

STOP_POLL_S: Final = 0.005


async def pause(pid: int) -> None:
    """Send SIGSTOP, and wait until all threads are stopped: on a busy machine some run on for a
    while."""
    os.kill(pid, signal.SIGSTOP)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if _is_stopped(pid):
                return
            await asyncio.sleep(STOP_POLL_S)


def _is_stopped(pid: int) -> bool:
    threads = [stat.read_text() for stat in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(text.rpartition(")")[2].split()[0] == "T" for text in threads)
