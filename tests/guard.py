"""End what a run of tests has started and left, also when the run itself was killed.

A process of its own reads from a pipe that the run holds open. When the run is over, however it
ended, the guard kills whatever carries the run's mark in its environment: that is inherited, so
that also those are found that have left their parents, as daemons do.
"""

import os
import subprocess
import sys
import uuid
from contextlib import suppress
from typing import Final

import psutil

MARK: Final = "REGENT_TEST_RUN"
END_S: Final = 1.0
"""How long a killed process is waited for before it is killed again."""

_pipes: list[subprocess.Popen[bytes]] = []


def watch() -> None:
    """Mark what this process starts from now on, and have it killed when this process has ended.

    Does nothing in a process that is part of a run already.
    """
    if MARK in os.environ:
        return
    run = uuid.uuid4().hex
    command = [sys.executable, __file__, run]
    # In a session of its own it outlives whoever interrupts the run's.
    _pipes.append(subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True))
    os.environ[MARK] = run


def _kill_marked(run: str) -> None:
    """Kill until none is left: one may start another before its turn comes."""
    while killed := [one for one in psutil.process_iter() if _is_killed(one, run)]:
        psutil.wait_procs(killed, timeout=END_S)


def _is_killed(process: psutil.Process, run: str) -> bool:
    with suppress(psutil.Error):
        if process.environ().get(MARK) == run and process.status() != psutil.STATUS_ZOMBIE:
            process.kill()
            return True
    return False


if __name__ == "__main__":
    sys.stdin.buffer.read()
    _kill_marked(sys.argv[1])
