"""End the processes that a run of tests has started and remove its folders, also after a kill.

A separate process reads from a pipe that the run holds open. When the run ends in any way, the
guard kills all processes with the run's mark in their environment. The environment is inherited, so
processes that have left their parents, such as daemons, are found too. So are processes with a
folder of the run in their command.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil

MARK: Final = "REGENT_TEST_RUN"
END_S: Final = 1.0
"""How long to wait for a killed process before the next kill."""

MEMORY: Final = Path("/dev/shm")
ROOM_MIN_BYTES: Final = 4 << 30

_pipes: list[subprocess.Popen[bytes]] = []


def watch() -> None:
    """Mark the processes that this process starts, and kill them when this process has ended.

    Does nothing in a process that is part of a run already.
    """
    if MARK in os.environ:
        return
    run = uuid.uuid4().hex
    command = [sys.executable, __file__, run]
    # In its own session it survives an interruption of the run.
    _pipes.append(subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True))
    os.environ[MARK] = run


def folder(name: str) -> Path:
    """Make a folder with a short path that is removed with the run, in memory if there is space.

    A database has some 300 files, and a disk's file system takes longer to create than to fill
    them.
    """
    return Path(tempfile.mkdtemp(prefix=f"{_folder_prefix(os.environ[MARK])}{name}-", dir=memory()))


def shared_folder(name: str) -> Path:
    """Give a folder that all processes of the run share; it is removed with the run."""
    parent = memory() or Path(tempfile.gettempdir())
    shared = parent / f"{_folder_prefix(os.environ[MARK])}{name}"
    shared.mkdir(exist_ok=True)
    return shared


def memory() -> Path | None:
    """Give the folder of files in memory, if there is space."""
    try:
        return MEMORY if shutil.disk_usage(MEMORY).free >= ROOM_MIN_BYTES else None
    except OSError:
        return None


def _folder_prefix(run: str) -> str:
    return f"regent-{run[:12]}-"


def _remove_folders(run: str) -> None:
    for parent in (MEMORY, Path(tempfile.gettempdir())):
        for left in parent.glob(f"{_folder_prefix(run)}*"):
            shutil.rmtree(left, ignore_errors=True)


def _kill_marked(run: str) -> None:
    """Kill until none is left: one may start another before it is killed."""
    while killed := [one for one in psutil.process_iter() if _is_killed(one, run)]:
        psutil.wait_procs(killed, timeout=END_S)


def _is_killed(process: psutil.Process, run: str) -> bool:
    with suppress(psutil.Error):
        if _is_of(process, run) and process.status() != psutil.STATUS_ZOMBIE:
            process.kill()
            return True
    return False


def _is_of(process: psutil.Process, run: str) -> bool:
    """Find the run by the environment, or by a folder: Redis writes its title over the former."""
    return process.environ().get(MARK) == run or any(
        _folder_prefix(run) in word for word in process.cmdline()
    )


if __name__ == "__main__":
    sys.stdin.buffer.read()
    _kill_marked(sys.argv[1])
    _remove_folders(sys.argv[1])
