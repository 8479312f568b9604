"""The files of a store, the process that uses them, and their sizes."""

import fcntl
import os
import re
import struct
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from regent_engine import StoreError

from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import UNKNOWN

SEGMENT_NAME: Final = re.compile(r"\d{20}")
INDEX_NAME: Final = re.compile(r"\d{17}")
STORES_SHOWN: Final = 5
DIRECTORIES_SEARCHED_MAX: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# For commands that already verify the store.
TRY_AGAIN: Final = "see that what is named above is whole and can be read, then try again"
ROOT_FILES: Final = ("checkpoint", "epochFileCheckpoint", "truncation", "abort", "lock")
ROOT_DIRECTORIES: Final = ("consumequeue", "index")
BLOCK_BYTES: Final = 512
_SERVED_BY_STOCK: Final = frozenset({"unserved_queues", "inner_batch"})
# Linux's struct flock: type, whence, start, length, process.
FLOCK: Final = struct.Struct("hhqqi0q")


@dataclass(frozen=True, slots=True)
class StorePaths:
    """The directories of one store."""

    root: Path
    commit_log: Path

    @property
    def queues(self) -> Path:
        """The consume queues."""
        return self.root / "consumequeue"

    @property
    def index(self) -> Path:
        """The files of the key index."""
        return self.root / "index"


def locate(directory: Path, commit_log: Path | None) -> StorePaths:
    """Check that a directory holds a store.

    Raises:
        CommandError: it does not.
    """
    paths = StorePaths(directory, commit_log or directory / "commitlog")
    if _holds_files(paths):
        return paths
    why = (
        f"{paths.commit_log} holds no log, and {directory} nothing else of a store"
        if paths.commit_log.is_dir()
        else f"there is no directory {paths.commit_log}"
    )
    raise CommandError(
        f"no message store at {directory}",
        why=why,
        next_step="; or ".join(f"try {path}" for path in _stores_near(directory))
        or "give the storePathRootDir of a broker, and --commit-log if its log is elsewhere",
        exit_code=ExitCode.NOT_FOUND,
    )


def _holds_files(paths: StorePaths) -> bool:
    """Return whether any file belongs to a store; an empty store has no log yet."""
    try:
        return paths.commit_log.is_dir() and (
            any((paths.root / name).is_file() for name in ROOT_FILES)
            or any((paths.root / name).is_dir() for name in ROOT_DIRECTORIES)
            or any(SEGMENT_NAME.fullmatch(path.name) for path in paths.commit_log.iterdir())
        )
    except OSError:
        # The command that reads the file reports why it can't.
        return True


def _stores_near(directory: Path) -> list[Path]:
    """List stores inside a directory; without any, the store that contains it."""
    # As typed, if that is enough.
    around = (*directory.parents, *directory.absolute().parents)
    return _stores_inside(directory) or [p for p in around if _holds_files(_usual(p))][:1]


def _stores_inside(directory: Path) -> list[Path]:
    """List a few stores, the nearest first: a wrong path may contain a whole disk."""
    found: list[Path] = []
    waiting = deque([directory])
    for _ in range(DIRECTORIES_SEARCHED_MAX):
        if not waiting or len(found) == STORES_SHOWN:
            break
        place = waiting.popleft()
        inside = _directories_in(place)
        if place / "commitlog" in inside and _holds_files(_usual(place)):
            found.append(place)
        else:
            waiting.extend(inside)
    return found


def _directories_in(directory: Path) -> list[Path]:
    try:
        with os.scandir(directory) as entries:
            some = islice(
                (e for e in entries if e.is_dir(follow_symlinks=False)), DIRECTORIES_SEARCHED_MAX
            )
            return sorted(directory / entry.name for entry in some)
    except OSError:
        return []


def _usual(directory: Path) -> StorePaths:
    return StorePaths(directory, directory / "commitlog")


def is_in_use(paths: StorePaths) -> bool:
    """Return whether a broker holds the store's lock file.

    The lock is queried, not taken: that needs no write permission, and does not block a broker.

    Raises:
        CommandError: the file cannot be read.
    """
    try:
        with (paths.root / "lock").open("rb") as file:
            answer = fcntl.fcntl(file, fcntl.F_GETLK, FLOCK.pack(fcntl.F_WRLCK, 0, 0, 1, 0))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unreadable(paths, str(error), next_step=TRY_AGAIN) from error
    kind, *_ = FLOCK.unpack(answer)
    return bool(kind != fcntl.F_UNLCK)


def refuse_if_in_use(paths: StorePaths) -> None:
    """Refuse to change the files of a running broker.

    Raises:
        CommandError: a broker holds the lock.
    """
    if is_in_use(paths):
        raise CommandError(
            f"the store at {paths.root} is in use",
            why="its lock file is held by a running broker",
            next_step="stop the broker and try again",
        )


def log_span(paths: StorePaths) -> tuple[int, int]:
    """Return the first log position of the segments, and the position after them."""
    names = sorted(path for path in paths.commit_log.glob("*") if SEGMENT_NAME.fullmatch(path.name))
    if not names:
        return 0, 0
    return int(names[0].name), int(names[-1].name) + names[-1].stat().st_size


def index_files(paths: StorePaths) -> list[Path]:
    """List the files of the key index."""
    files = (path for path in paths.index.glob("*") if INDEX_NAME.fullmatch(path.name))
    return [path for path in files if path.is_file()]


def allocated_bytes(directory: Path) -> int:
    """Return the disk space of the files below a directory, without holes."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return sum(path.stat().st_blocks * BLOCK_BYTES for path in files)


def unreadable(paths: StorePaths, why: str, *, next_step: str | None = None) -> CommandError:
    """Report that a store could not be read; the default advice is to verify it."""
    return CommandError(
        f"the store at {paths.root} could not be read",
        why=why,
        next_step=next_step or f"regent store verify {paths.root}",
    )


def refused(
    paths: StorePaths, error: StoreError, *, state: str = "", next_step: str | None = None
) -> CommandError:
    """Say that the engine did not take a store, and in which state the store is.

    What to do, unless given, is to verify it; a store that only stock serves goes back to stock.
    """
    if error.code in _SERVED_BY_STOCK:
        next_step = "use the tools of the RocketMQ broker that wrote the store"
    return unreadable(paths, f"{error}{state}", next_step=next_step)


def fields(value: Any) -> dict[str, Any]:
    """List the public fields of a value of the engine, without bytes."""
    names = (name for name in dir(value) if not name.startswith("_"))
    shown = {name: getattr(value, name) for name in names}
    return {name: field for name, field in shown.items() if not isinstance(field, bytes)}


def time_text(timestamp_ms: int | None) -> str:
    """Write a time in UTC; a dash if there is none."""
    if timestamp_ms is None:
        return UNKNOWN
    try:
        instant = _EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        # No checksum covers the header of a record: its time may be out of range.
        return f"{timestamp_ms} ms"
    return instant.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
