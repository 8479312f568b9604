"""Start programs by forks of processes that have imported them.

Imports are nearly all of a program's start, and tests start hundreds of agents and control planes.
A process that is forked is one like any other: it is killed, paused and stopped by signals.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.waiting import PATIENCE_S

ROOT: Final = Path(__file__).parents[1]
BROKER: Final = "workers.broker.__main__"
SERVER: Final = "backend.server"
CONTROL_PLANE: Final = "tests.chaos.control_plane"
"""Modules with a function `main`."""


class ForkingProcess:
    """The process that has a program in memory. It ends when its standard input is closed."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            # Unbuffered, so a kill loses nothing that was written before.
            [sys.executable, "-u", "-m", __name__, program],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._turn = threading.Lock()
        self._started: queue.Queue[int] = queue.Queue()
        self._ended = threading.Condition()
        self._codes: dict[int, int] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def fork(
        self,
        arguments: Sequence[str],
        *,
        log_path: Path,
        environment: Mapping[str, str] = os.environ,
    ) -> "ForkedProcess":
        """Start the program, which appends its output to a file."""
        order = {"arguments": arguments, "log": str(log_path), "environment": dict(environment)}
        with self._turn:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return ForkedProcess(self._started.get(timeout=PATIENCE_S), self)

    def code_of(self, pid: int, *, timeout_s: float) -> int | None:
        """Wait for the end of a process, and give its exit code as `subprocess` does."""
        with self._ended:
            self._ended.wait_for(lambda: pid in self._codes, timeout_s)
            return self._codes.get(pid)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event, pid, code = json.loads(line)
            with self._ended:
                if event == "ended":
                    self._codes[pid] = code
                    self._ended.notify_all()
                else:
                    # The system gives the number of a process that is gone to another.
                    self._codes.pop(pid, None)
                    self._started.put(pid)


@functools.cache
def forking_process(program: str) -> ForkingProcess:
    """Give the one of this test process."""
    return ForkingProcess(program)


@dataclass
class ForkedProcess:
    """What tests use of `subprocess.Popen`."""

    pid: int
    _origin: ForkingProcess
    _code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._origin.code_of(self.pid, timeout_s=0)
        return self._code

    def wait(self, timeout: float = PATIENCE_S) -> int:
        if self._code is None:
            self._code = self._origin.code_of(self.pid, timeout_s=timeout)
        if self._code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return self._code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(program: str) -> None:
    """Fork at each line of standard input, and write of each process when it starts and ends."""
    main = importlib.import_module(program).main
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, lambda *_: _reap())
    for line in sys.stdin:
        order = json.loads(line)
        # Its start is written before its end.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        if (pid := os.fork()) == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            _redirect(order["log"])
            os.environ.clear()
            os.environ.update(order["environment"])
            sys.exit(main(*filter(None, [order["arguments"]])))
        _write("started", pid, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _redirect(log_path: str) -> None:
    """Take the standard streams from the process that forked."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, stream in ((nowhere, 0), (log, 1), (log, 2)):
        os.dup2(source, stream)
    os.close(nowhere)
    os.close(log)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            _write("ended", pid, os.waitstatus_to_exitcode(status))


def _write(event: str, pid: int, code: int) -> None:
    os.write(1, json.dumps([event, pid, code]).encode() + b"\n")


if __name__ == "__main__":
    _run(sys.argv[1])
