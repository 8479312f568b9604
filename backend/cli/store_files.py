"""Where the files of a store are, who uses them, and how large they are."""

import fcntl
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from backend.cli.errors import CommandError, ExitCode

SEGMENT_NAME: Final = re.compile(r"\d{20}")
INDEX_NAME: Final = re.compile(r"\d{17}")
# As a broker reads its messageDelayLevel.
DELAY_LEVEL: Final = re.compile(r"([0-9]{1,9})([smhd])")
DELAY_LEVEL_COUNT_MAX: Final = 1024
UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# Stock computes the size of an index file in 32 bits.
INDEX_FILE_BYTES_MAX: Final = (1 << 31) - 1
STORES_SHOWN: Final = 5
# For who asks for a verification already.
TRY_AGAIN: Final = "see that what is named above is whole and can be read, then try again"
ROOT_FILES: Final = ("checkpoint", "epochFileCheckpoint", "truncation", "abort", "lock")
ROOT_DIRECTORIES: Final = ("consumequeue", "batchconsumequeue", "index")
BLOCK_BYTES: Final = 512
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
    def batch_queues(self) -> Path:
        """The consume queues of topics whose attribute queue.type is BatchCQ."""
        return self.root / "batchconsumequeue"

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
    """Tell whether any file is a store's; a store that was never written to has no log yet."""
    try:
        return paths.commit_log.is_dir() and (
            any((paths.root / name).is_file() for name in ROOT_FILES)
            or any((paths.root / name).is_dir() for name in ROOT_DIRECTORIES)
            or any(SEGMENT_NAME.fullmatch(path.name) for path in paths.commit_log.iterdir())
        )
    except OSError:
        # Whoever reads it tells why it can't be read.
        return True


def _stores_near(directory: Path) -> list[Path]:
    """List stores inside a directory; without any, the one that it is a part of."""
    inside = sorted(path.parent for path in directory.glob("**/commitlog"))
    # As it was typed where that suffices.
    around = (*directory.parents, *directory.absolute().parents)
    found = [path for path in inside if _holds_files(_usual(path))][:STORES_SHOWN]
    return found or [path for path in around if _holds_files(_usual(path))][:1]


def _usual(directory: Path) -> StorePaths:
    return StorePaths(directory, directory / "commitlog")


def is_in_use(paths: StorePaths) -> bool:
    """Whether a broker holds the store's lock file.

    It is asked for, not tried: that needs no right to write, and keeps no broker from starting.

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


def parse_delay_levels(text: str) -> list[int]:
    """Read a messageDelayLevel, such as `1s 5s 10s 1m 2h`, in milliseconds.

    Raises:
        CommandError: it is none.
    """
    next_step = "write levels as in broker.conf: --delay-levels '1s 5s 10s 1m 2h'"
    words = text.split()
    if not 1 <= len(words) <= DELAY_LEVEL_COUNT_MAX:
        raise CommandError(
            f"{len(words)} delay levels are none that a broker takes: 1 to {DELAY_LEVEL_COUNT_MAX}",
            next_step=next_step,
            exit_code=ExitCode.USAGE,
        )
    levels = []
    for word in words:
        found = DELAY_LEVEL.fullmatch(word)
        if found is None:
            raise CommandError(
                f"{word!r} is no delay level", next_step=next_step, exit_code=ExitCode.USAGE
            )
        levels.append(int(found[1]) * UNIT_MS[found[2]])
    return levels


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
    """Return the first log position that the segments have room for, and the one behind them."""
    names = sorted(path for path in paths.commit_log.glob("*") if SEGMENT_NAME.fullmatch(path.name))
    if not names:
        return 0, 0
    return int(names[0].name), int(names[-1].name) + names[-1].stat().st_size


def index_files(paths: StorePaths) -> list[Path]:
    """List the files of the key index."""
    files = (path for path in paths.index.glob("*") if INDEX_NAME.fullmatch(path.name))
    return [path for path in files if path.is_file()]


def index_file_size(slots: int, entries: int) -> int:
    """Return the size of an index file, in bytes (storage-and-ha.md 4.1)."""
    return 40 + 4 * slots + 20 * entries


def refuse_index_shape(slots: int, entries: int) -> None:
    """Refuse numbers that no broker has an index with.

    Raises:
        CommandError: its files would be too large.
    """
    size = index_file_size(slots, entries)
    if size > INDEX_FILE_BYTES_MAX:
        raise CommandError(
            f"no index file has {slots} slots and {entries} entries",
            why=f"it would have {size} bytes, and brokers make none of over {INDEX_FILE_BYTES_MAX}",
            next_step="give --index-slots and --index-entries as broker.conf has maxHashSlotNum and"
            " maxIndexNum, or leave them out if it sets neither",
            exit_code=ExitCode.USAGE,
        )


def allocated_bytes(directory: Path) -> int:
    """Return the room that the files below a directory take on the disk, holes left out."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return sum(path.stat().st_blocks * BLOCK_BYTES for path in files)


def unreadable(paths: StorePaths, why: str, *, next_step: str | None = None) -> CommandError:
    """Say that a store could not be read; what to do, unless given, is to verify it."""
    return CommandError(
        f"the store at {paths.root} could not be read",
        why=why,
        next_step=next_step or f"regent store verify {paths.root}",
    )


def fields(value: Any) -> dict[str, Any]:
    """List the public fields of one of the engine's values, without bytes."""
    names = (name for name in dir(value) if not name.startswith("_"))
    shown = {name: getattr(value, name) for name in names}
    return {name: field for name, field in shown.items() if not isinstance(field, bytes)}
