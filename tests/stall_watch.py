"""Show what delayed a test process, in the output of the delayed test.

A lease that ends because the test's own process was blocked looks like a fault of Regent. The state
of the machine is lost before a person reads of it, so it is printed at once.
"""

import os
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOOK_S: Final = 0.25
STALL_S: Final = 2.0
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


def watch() -> None:
    """Watch the main thread of this process until it ends."""
    threading.Thread(target=_look, name="stall-watch", daemon=True).start()


def _look() -> None:
    main_id = threading.main_thread().ident
    assert main_id is not None
    last, since, place = Usage.read(), Usage.read(), (0, 0)
    never = threading.Event()
    while not never.wait(LOOK_S):  # tests replace `time.sleep` by their own functions
        now = Usage.read()
        if now.at_s - last.at_s > STALL_S:
            sys.stderr.write(f"no thread of this process ran for {now.describe_since(last)}\n")
        last = now
        frame = sys._current_frames().get(main_id)
        if frame is None or frame.f_code.co_name in _WAITS:
            since, place = now, (0, 0)
        elif (id(frame), frame.f_lasti) != place:
            since, place = now, (id(frame), frame.f_lasti)
        elif now.at_s - since.at_s > STALL_S:
            stack = "".join(traceback.format_stack(frame)[-12:])
            sys.stderr.write(
                f"the main thread stands here for {now.describe_since(since)}\n{stack}"
            )
            since = now
