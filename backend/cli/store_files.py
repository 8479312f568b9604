"""Where the files of a store are, who uses them, and how its queues are made anew."""

import fcntl
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from regent_engine import Store, StoreError

from backend.cli.errors import CommandError, ExitCode

SEGMENT_NAME: Final = re.compile(r"\d{20}")
DELAY_LEVEL: Final = re.compile(r"(\d+)([smhd])")
UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
STORES_SHOWN: Final = 5
QUEUE_FILE_SIZE: Final = 6_000_000
BATCH_QUEUE_FILE_SIZE: Final = 13_800_000


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


def locate(directory: Path, commit_log: Path | None) -> StorePaths:
    """Check that a directory holds a store.

    Raises:
        CommandError: it does not.
    """
    paths = StorePaths(directory, commit_log or directory / "commitlog")
    if paths.commit_log.is_dir():
        return paths
    nested = sorted(path.parent for path in directory.glob("**/commitlog"))[:STORES_SHOWN]
    raise CommandError(
        f"no message store at {directory}",
        why=f"there is no directory {paths.commit_log}",
        next_step="; or ".join(f"try {path}" for path in nested)
        or "give the storePathRootDir of a broker, and --commit-log if its log is elsewhere",
        exit_code=ExitCode.NOT_FOUND,
    )


def is_in_use(paths: StorePaths) -> bool:
    """Whether a broker holds the store's lock file."""
    try:
        file = (paths.root / "lock").open("r+b")
    except OSError:
        # Without the file, or the right to write it, nobody here can run a broker on it.
        return False
    with file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        except OSError:
            return True
        fcntl.lockf(file, fcntl.LOCK_UN, 1, 0)
        return False


def parse_delay_levels(text: str) -> list[int]:
    """Read a messageDelayLevel, such as `1s 5s 10s 1m 2h`, in milliseconds.

    Raises:
        CommandError: it is none.
    """
    levels = []
    for word in text.split():
        found = DELAY_LEVEL.fullmatch(word)
        if found is None:
            raise CommandError(
                f"{word!r} is no delay level",
                next_step="write levels as in broker.conf: --delay-levels '1s 5s 10s 1m 2h'",
                exit_code=ExitCode.USAGE,
            )
        levels.append(int(found[1]) * UNIT_MS[found[2]])
    return levels


def rebuild_queues(
    paths: StorePaths, delay_levels_ms: list[int] | None, *, keep_old: bool
) -> tuple[list[Path], list[tuple[str, int, int, int]]]:
    """Set the queues aside and let the store make them anew from its log.

    Returns where the old ones are, if they are kept, and (topic, queue id, min and max offset).

    Raises:
        CommandError: the log cannot be read; the old queues are back in place then.
    """
    segment_size = _file_size([paths.commit_log])
    if segment_size is None:
        raise CommandError(f"{paths.commit_log} has no segment", exit_code=ExitCode.NOT_FOUND)
    queue_size = _file_size(paths.queues.glob("*/*")) or QUEUE_FILE_SIZE
    batch_queue_size = _file_size(paths.batch_queues.glob("*/*")) or BATCH_QUEUE_FILE_SIZE
    has_light_queues = any(paths.queues.glob("%LMQ%*"))
    old = _set_aside(paths)
    try:
        queues = _queues_made_anew(
            paths,
            segment_size_bytes=segment_size,
            queue_file_size_bytes=queue_size,
            batch_queue_file_size_bytes=batch_queue_size,
            multi_dispatch_enabled=has_light_queues,
            delay_levels_ms=delay_levels_ms,
        )
    except BaseException as error:
        for current in (paths.queues, paths.batch_queues):
            shutil.rmtree(current, ignore_errors=True)
        for current, aside in old.items():
            aside.rename(current)
        if isinstance(error, StoreError):
            raise unreadable(paths, str(error)) from error
        raise
    if keep_old:
        return list(old.values()), queues
    for aside in old.values():
        shutil.rmtree(aside, ignore_errors=True)
    return [], queues


def _set_aside(paths: StorePaths) -> dict[Path, Path]:
    """Rename the directories of the queues; return the new names by the old ones."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    old = {
        current: current.rename(current.with_name(f"{current.name}.{stamp}"))
        for current in (paths.queues, paths.batch_queues)
        if current.exists()
    }
    if paths.batch_queues in old:
        # Without their directories nobody knows that the topics have batch queues.
        for directory in old[paths.batch_queues].glob("*/*"):
            (paths.batch_queues / directory.parent.name / directory.name).mkdir(parents=True)
    return old


def _queues_made_anew(paths: StorePaths, **options: Any) -> list[tuple[str, int, int, int]]:
    """Open the store, which fills its queues from the log, and close it again."""
    store = Store(str(paths.root), commit_log_path=str(paths.commit_log), **options)
    queues, damage = store.queues(), store.damage
    store.close()
    if damage is not None:
        raise unreadable(paths, damage.reason)
    return queues


def unreadable(paths: StorePaths, why: str) -> CommandError:
    """Say that the engine could not read a store."""
    return CommandError(
        f"the store at {paths.root} could not be read",
        why=why,
        next_step=f"regent store verify {paths.root}",
    )


def fields(value: Any) -> dict[str, Any]:
    """List the public fields of one of the engine's values, without bytes."""
    names = (name for name in dir(value) if not name.startswith("_"))
    shown = {name: getattr(value, name) for name in names}
    return {name: field for name, field in shown.items() if not isinstance(field, bytes)}


def _file_size(directories: Iterable[Path]) -> int | None:
    """Return the size of the first segment file found; all files of one kind have the same."""
    for directory in directories:
        for path in sorted(directory.iterdir()) if directory.is_dir() else ():
            if SEGMENT_NAME.fullmatch(path.name):
                return path.stat().st_size
    return None
