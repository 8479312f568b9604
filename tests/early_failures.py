"""Print each failed test as soon as it fails, with the end of its error.

The report of pytest comes at the end of a run only. A run that is stopped before says nothing.
"""

import shutil
import tempfile
from typing import Final

import pytest
from _pytest.terminal import TerminalReporter

# Postgres, Redis and brokers fail in many ways once a disk is full.
LITTLE_DISK_BYTES: Final = 2 * 1024**3


class EarlyFailures:
    """Writes one line for each failed test to the terminal of the run."""

    def __init__(self, terminal: TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the line of a test whose set-up, call or teardown failed."""
        if not report.failed:
            return
        error = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
        first_line = (error or report.longreprtext[-300:]).strip().partition("\n")[0]
        self._terminal.write(
            f"\nfailed ({report.when}): {report.nodeid}: {first_line[:300]}{_little_disk()}\n",
            flush=True,
        )


def _little_disk() -> str:
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return f" (the disk has {free >> 20} MiB left)" if free < LITTLE_DISK_BYTES else ""
