"""Keep small state files so that a crash at any time leaves a readable one.

The current file becomes the backup, and a synced file with the new content takes its place
(storage-and-ha.md 1.1). After a crash at any time the file is complete, and its backup is too.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import structlog

from backend.durable_files import replace_file
from backend.remoting import java_json
from backend.remoting.java_json import InvalidJson
from backend.remoting.sifting import LeftOut
from workers.broker.requests.finishing import finish

T = TypeVar("T")
Decode = Callable[[bytes], tuple[T, list[LeftOut]]]
NAMED_MAX: Final = 20

log = structlog.get_logger()


class StateFileUnreadable(Exception):
    """Neither a state file nor its backup can be read; nothing was changed."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"neither {path} nor its backup can be read: {reason}")
        self.path = path


class StateFile:
    """One JSON file in stock form, with its backup."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.backup_path = path.with_name(path.name + ".bak")
        self._is_readable = True

    def load(self, kind: type[T]) -> T | None:
        """Read the file, or else its backup; None if neither exists.

        Raises:
            StateFileUnreadable: the content is invalid.
        """
        return self.load_items(lambda content: (java_json.decode(content, kind), []))[0]

    def load_items(self, decode: Decode[T]) -> tuple[T | None, list[LeftOut]]:
        """Read the file, or else its backup, with the items that were left out of it.

        Raises:
            StateFileUnreadable: the content is invalid.
        """
        reason = ""
        for path in (self.path, self.backup_path):
            try:
                content = path.read_bytes()
                if content.strip():
                    found, left_out = decode(content)
                    _name_left_out(path, left_out)
                    if reason:
                        log.warning("state_read_from_backup", path=str(path), reason=reason)
                    return found, left_out
            except FileNotFoundError:
                continue
            except (InvalidJson, OSError) as error:
                reason = reason or str(error)
            if path == self.path:
                # The next save must not make a backup of this file.
                self._is_readable = False
        if reason:
            raise StateFileUnreadable(self.path, reason)
        return None, []

    def save(self, content: bytes) -> None:
        """Replace the content durably; blocks until it is on the disk.

        Raises:
            OSError: the disk refused, naming the file; the former content is still there.
        """
        try:
            self._replace(content)
        except OSError as error:
            if error.filename is not None:
                raise
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _replace(self, content: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(
            self.path,
            msgspec.json.format(content, indent=2),
            backup_path=self.backup_path if self._is_readable else None,
        )
        self._is_readable = True


def _name_left_out(path: Path, left_out: Sequence[LeftOut]) -> None:
    if left_out:
        log.warning(
            "state_items_left_out",
            path=str(path),
            count=len(left_out),
            items=[f"{'/'.join(one.path)}: {one.reason}" for one in left_out[:NAMED_MAX]],
        )


class StateSaver:
    """Writes one state file outside the loop: one write at a time, with all changes so far."""

    def __init__(
        self,
        file: StateFile,
        snapshot: Callable[[], bytes],
        *,
        count: Callable[[], int],
        prepare: Callable[[], object] | None = None,
    ) -> None:
        """Take functions for the content, and for the number of its changes so far.

        A third function makes prerequisites durable before the content, outside the loop.
        """
        self._file, self._snapshot, self._count = file, snapshot, count
        self._prepare = prepare
        self._lock = asyncio.Lock()
        self._saved_count = count()

    @property
    def is_dirty(self) -> bool:
        """Return whether a change is not on disk yet."""
        return self._saved_count < self._count()

    async def save(self) -> None:
        """Return once every change made before this call is on disk.

        Raises:
            OSError: the disk refused; or any error of the preparation.
        """
        wanted = self._count()
        async with self._lock:
            if self._saved_count >= wanted:
                return
            count, content = self._count(), self._snapshot()
            await finish(asyncio.to_thread(self._write, content))
            self._saved_count = count

    def _write(self, content: bytes) -> None:
        if self._prepare is not None:
            self._prepare()
        self._file.save(content)
