"""Start agents by forks of one process that has imported their program.

Imports are nearly all of an agent's start, and the tests of groups start hundreds of agents. An
agent that is forked is a process like any other: it is killed, paused and stopped by signals.
"""

import contextlib
import functools
import gc
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.waiting import PATIENCE_S

ROOT: Final = Path(__file__).parents[3]


class ForkingProcess:
    """The process that has the program in memory. It ends when its standard input is closed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
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

    def fork(self, *arguments: str, log_path: Path) -> "ForkedProcess":
        """Start the program with arguments and this process's environment.

        It appends its log to a file.
        """
        order = {"arguments": arguments, "log": str(log_path), "environment": dict(os.environ)}
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
def forking_process() -> ForkingProcess:
    """Give the one of this test process."""
    return ForkingProcess()


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
            raise subprocess.TimeoutExpired(f"agent {self.pid}", timeout)
        return self._code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run() -> None:
    """Fork at each line of standard input, and write of each process when it starts and ends."""
    from workers.broker.__main__ import main  # noqa: PLC0415 - tests that fork do not need it

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
            sys.exit(main(order["arguments"]))
        _write("started", pid, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _redirect(log_path: str) -> None:
    """Take the standard streams from the process that forked."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, stream in ((nowhere, 0), (nowhere, 1), (log, 2)):
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
    _run()
