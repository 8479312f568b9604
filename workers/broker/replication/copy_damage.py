"""Remember that the copy of one record in this log is damaged, until its master has sent it again.

A damaged record in an older part of the log is found by who reads it, and not when the store is
opened. So its position is noted in a file. The next start treats the log as damaged there (ADR 17):
the broker stays out of its group until its master has replaced what follows.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workers.broker.replication.verification import put_mark

FILE_NAME: Final = ".damaged_record"


@dataclass(frozen=True, slots=True)
class CopyDamage:
    """Hold the log position of a record whose copy in this log is damaged."""

    position: int

    @property
    def reason(self) -> str:
        """Say what is damaged."""
        return f"the copy of the record at log position {self.position} is damaged"


def note_damage(root: Path, position: int) -> None:
    """Note a damaged record; it is on the disk when this returns.

    Raises:
        OSError: the disk refused.
    """
    put_mark(root / FILE_NAME, str(position))


def find_damage(root: Path, *, from_position: int) -> CopyDamage | None:
    """Return the damage that was noted; None if there is none, or if the record has expired."""
    try:
        position = int((root / FILE_NAME).read_text(encoding="ascii"))
    except FileNotFoundError:
        return None
    except ValueError:
        # The process ended while it wrote the file, so the damage is found again.
        return None
    return CopyDamage(position) if position >= from_position else None


def forget_damage(root: Path) -> None:
    """Forget a damage that is mended.

    Raises:
        OSError: the disk refused.
    """
    (root / FILE_NAME).unlink(missing_ok=True)
