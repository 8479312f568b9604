"""Remember whether this log may have lost its end, until it has the data again (D11).

After an unclean stop the end of the log may be missing although it was acknowledged. Such a replica
must not be elected before it has all data of its master again. A process that was killed on a
running machine has lost nothing: its writes are in the page cache. This is not true once the file
system was mounted again, or after a failed flush: data that is not on the disk is lost when the
store is opened again. The engine names boot and file systems (FORMAT.md 1), and judges its log by
them.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog
from regent_engine import is_same_run, system_run

from backend.durable_files import sync_directory
from workers.broker.replication.confirmed_mark import ConfirmedMark

MARK_NAME: Final = ".unverified"
RUN_NAME: Final = ".boot"
ABORT_NAME: Final = "abort"
UNFLUSHED: Final = "unflushed"
"""Second line of the mark of an unclean stop once a flush has failed (FORMAT.md 1)."""

log = structlog.get_logger()


class Verification:
    """The mark in the directory of one store, and the confirmed position of its log."""

    def __init__(self, root: Path) -> None:
        self._mark_path = root / MARK_NAME
        self._is_verified = not self._mark_path.exists()
        self.confirmed = ConfirmedMark(root)

    @property
    def is_verified(self) -> bool:
        """Return whether this log is verified."""
        return self._is_verified

    def doubt(self, reason: str) -> None:
        """Mark this log as not verified; called by the opener of the store before any other use.

        Raises:
            OSError: the disk refused.
        """
        log.warning("log_doubted", reason=reason)
        put_mark(self._mark_path, "")
        self._is_verified = False

    def succeed(self) -> None:
        """Mark this log as verified again.

        Raises:
            OSError: the disk refused.
        """
        self._mark_path.unlink(missing_ok=True)
        self._is_verified = True

    def compare(self, epochs: Sequence[tuple[int, int]], end: int) -> None:
        """Mark a log as not verified if it lacks data that the files of this broker name (D27).

        Raises:
            OSError: the disk refused.
        """
        lack = self.confirmed.find_lack(epochs, end)
        if lack is not None and self._is_verified:
            self.doubt(f"the log was emptied, or put back from an older copy: {lack}")

    def waive(self) -> None:
        """Mark this log as verified: a replica that was elected unverified has the longest log.

        Raises:
            OSError: the disk refused.
        """
        if not self._is_verified:
            log.warning("log_not_verifiable", reason="no member of the SyncStateSet was verified")
            self.succeed()


def begin_verification(root: Path, log_dir: Path, *, run: str | None = None) -> Verification:
    """Check how the last stop was, before the store is opened.

    `run` names the run of the system, if not this one.

    Raises:
        OSError: the disk refused.
    """
    for directory in (root, log_dir):
        directory.mkdir(parents=True, exist_ok=True)
    run_path = root / RUN_NAME
    run = run or system_run(str(root), str(log_dir)) or ""
    former, mark = (_read(run_path) or "").strip(), _read(root / ABORT_NAME)
    is_same = is_same_run(former, run)
    if mark is not None and (not is_same or _names_failed_flush(mark)):
        put_mark(root / MARK_NAME, "")
    if former != run:
        put_mark(run_path, run)
    return Verification(root)


def put_mark(path: Path, text: str) -> None:
    """Write a small file, durably.

    Raises:
        OSError: the disk refused.
    """
    with path.open("w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    sync_directory(path.parent)


def _read(path: Path) -> str | None:
    """Read a file; None if it is absent. An unreadable file must not be treated as absent."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return None


def _names_failed_flush(mark: str) -> bool:
    return mark.splitlines()[1:2] == [UNFLUSHED]
