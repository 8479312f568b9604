"""Show what delayed a test process, in the output of the delayed test.

A lease that ends because the test's own process was blocked looks like a fault of Regent. The state
of the machine is lost before a person reads of it, so it is printed at once.
"""

import faulthandler
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

LOOK_S: Final = 1.0
STALL_S: Final = 2.0
CALL_COUNT_MAX: Final = 12
_WAITS: Final = frozenset({"select", "poll", "run_forever", "_run_once", "wait", "_wait"})
"""Where a thread is that waits for something to do."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What this process, and the machine, have used so far."""

    at_s: float
    cpu_s: float
    major_fault_count: int
    stolen_s: float

    @classmethod
    def read(cls) -> "Usage":
        """Read it from the system."""
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        stolen = Path("/proc/stat").read_text().splitlines()[0].split()[8]
        ticks_per_s = os.sysconf("SC_CLK_TCK")
        return cls(time.monotonic(), time.process_time(), int(fields[9]), int(stolen) / ticks_per_s)

    def describe_since(self, before: "Usage") -> str:
        """Say how much was used between two moments."""
        read_count = self.major_fault_count - before.major_fault_count
        return (
            f"{self.at_s - before.at_s:.1f} s, of which it had a processor for"
            f" {self.cpu_s - before.cpu_s:.1f} s; {read_count} pages were read for it; the machine"
            f" was without its processors for {self.stolen_s - before.stolen_s:.1f} s"
        )


class Looks:
    """What the looks at one thread have shown so far."""

    def __init__(self, now: Usage) -> None:
        self._last = self._since = now
        self._stack: Sequence[str] = ()

    def take(self, now: Usage, stack: Sequence[str]) -> str:
        """Return what delayed the thread, by its calls, the innermost first; empty if nothing."""
        last, self._last = self._last, now
        if now.at_s - last.at_s > STALL_S:
            self._since = now
            return f"no thread of this process ran for {now.describe_since(last)}\n"
        if not stack or stack[0].rpartition(" in ")[2] in _WAITS:
            self._since, self._stack = now, ()
        elif stack != self._stack:
            self._since, self._stack = now, stack
        elif now.at_s - self._since.at_s > STALL_S:
            since, self._since = self._since, now
            calls = "\n".join(reversed(stack[:CALL_COUNT_MAX]))
            return f"the main thread stands here for {now.describe_since(since)}\n{calls}\n"
        return ""


def read_stack(thread_id: int, file: IO[bytes]) -> list[str]:
    """Return the calls of a thread, the innermost first; empty if the thread has ended.

    The stack is written to a file while this thread holds the interpreter lock, and no frame object
    is made. A frame object keeps the variables of its function alive after the function has ended.
    Then they end in this thread: handles of an event loop, or greenlets, which only their own
    thread may destroy.
    """
    file.seek(0)
    file.truncate()
    faulthandler.dump_traceback(file, all_threads=True)
    file.seek(0)
    for part in file.read().decode(errors="replace").split("\n\n"):
        head, *calls = part.splitlines()
        if f"0x{thread_id:016x} " in head:
            return calls
    return []


def watch() -> None:
    """Watch the main thread of this process until it ends."""
    threading.Thread(target=_look, name="stall-watch", daemon=True).start()


def _look() -> None:
    main_id = threading.main_thread().ident
    assert main_id is not None
    looks = Looks(Usage.read())
    never = threading.Event()
    with tempfile.TemporaryFile() as file:
        while not never.wait(LOOK_S):  # tests replace `time.sleep` by their own functions
            if delay := looks.take(Usage.read(), read_stack(main_id, file)):
                sys.stderr.write(delay)
