"""Store on the disk what was confirmed to this log, so that a loss is always noticed (D27).

The file `.confirmed` holds one line: the master epoch in which the position was confirmed, the
epoch that wrote the last byte before it, and the position. It only grows, until an operator accepts
a loss. A log that is shorter, or has an older epoch, was emptied or restored from an older copy.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog

from backend.durable_files import replace_file

FILE_NAME: Final = ".confirmed"
_NONE: Final = -1
_NOTHING: Final = (_NONE, _NONE, 0)

log = structlog.get_logger()


class ConfirmedMark:
    """The confirmed position of the log of one store; none at first."""

    def __init__(self, root: Path) -> None:
        """Read the file; a missing or truncated file names nothing.

        Raises:
            OSError: the file exists and cannot be read.
        """
        self._path = root / FILE_NAME
        self._saved = _read(self._path)
        self.term, self.epoch, self.position = self._saved or _NOTHING

    def find_lack(self, epochs: Sequence[tuple[int, int]], end: int) -> str | None:
        """Return what a log with this end lacks, or None."""
        behind = [(number, start) for number, start in epochs if start > end]
        if behind:
            number, start = behind[0]
            return f"its epoch {number} begins at {start}, behind the end of the log at {end}"
        if self.position > end:
            return f"{self.position} was confirmed, and the log ends at {end}"
        newest = max((number for number, _ in epochs), default=_NONE)
        if self.position > 0 and self.epoch > newest:
            return f"epoch {self.epoch} was confirmed, and the newest epoch of the log is {newest}"
        return None

    def note(self, term: int, epoch: int, position: int) -> None:
        """Set the confirmed position of a term; it never decreases.

        The epoch is that of the last byte before the position.
        """
        if position <= 0 or position < self.position or term < self.term:
            return
        self.term, self.epoch, self.position = term, epoch, position

    def forget(self) -> None:
        """Remove the mark: this log is valid, whatever it contained before."""
        self.term, self.epoch, self.position = _NOTHING

    def accept_loss(self, loss_epoch: int) -> None:
        """Remove the mark of before an epoch that began with an accepted loss."""
        if self.position > 0 and self.term < loss_epoch:
            log.warning("confirmed_given_up", position=self.position, epoch=loss_epoch)
            self.forget()

    @property
    def is_saved(self) -> bool:
        """Return whether the file is up to date."""
        return (self.term, self.epoch, self.position) == (self._saved or _NOTHING)

    def save(self) -> None:
        """Write the file if it is outdated; a new term is on the disk when this returns.

        Raises:
            OSError: the disk refused.
        """
        if self.is_saved:
            return
        present = (self.term, self.epoch, self.position)
        is_new_term = self._saved is None or self._saved[0] != self.term
        content = f"{present[0]} {present[1]} {present[2]}\n".encode()
        replace_file(self._path, content, is_durable=is_new_term)
        self._saved = present


def epoch_before(epochs: Sequence[tuple[int, int]], position: int) -> int:
    """Return the epoch of the last byte before a position; -1 means none."""
    return max((number for number, start in epochs if start < position), default=_NONE)


def _read(path: Path) -> tuple[int, int, int] | None:
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return None
    parts = text.split()
    try:
        term, epoch, position = (int(part) for part in parts)
    except ValueError:
        return None
    return (term, epoch, position) if text.endswith("\n") else None
