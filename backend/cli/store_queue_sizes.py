"""The size of the queue files of a rebuild: as given, else as the present files have it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from backend.cli.errors import CommandError, ExitCode
from backend.cli.reader import print_note
from backend.cli.store_files import SEGMENT_NAME, StorePaths, unreadable
from backend.cli.store_settings import StoreSettings

# Block size of a file system, and the smallest growth of a queue file.
_BLOCK_BYTES: Final = 4096
_SLICE_BYTES: Final = 65_536

_ENTRY_BYTES: Final = 20
_DEFAULT_BYTES: Final = 6_000_000
_OPTION: Final = "--queue-file-size"
_SETTING: Final = "mappedFileSizeConsumeQueue"


@dataclass(frozen=True, slots=True)
class _File:
    """A queue file, and whether a crash may have left it shorter than planned."""

    size: int
    may_be_torn: bool


@dataclass(frozen=True, slots=True)
class QueueSize:
    """The size in bytes, and why a broker may use another, if no file proves it."""

    size_bytes: int
    doubt: str | None


def choose(paths: StorePaths, settings: StoreSettings) -> QueueSize:
    """Decide the size of the new queue files.

    Raises:
        CommandError: present files have another size than the given one, or cannot be read.
    """
    is_clean = not (paths.root / "abort").exists()
    try:
        files = list(_files(paths.queues, is_clean=is_clean))
    except OSError as error:
        raise unreadable(paths, str(error)) from error
    given = settings.queue_file_size
    return _read_size(files) if given is None else _check(paths.queues, files, given)


def note_doubt(chosen: QueueSize) -> None:
    """Name the size without proof, and the option that sets it."""
    if chosen.doubt is not None:
        print_note(
            f"{chosen.doubt}\n  next: if broker.conf sets {_SETTING}, give the same with {_OPTION}:"
            " a broker with another size does not open the store"
        )


def _files(queues: Path, *, is_clean: bool) -> Iterator[_File]:
    named = (path for path in queues.glob("*/*/*") if SEGMENT_NAME.fullmatch(path.name))
    paths = sorted(path for path in named if path.is_file())
    for _, queue in groupby(paths, key=lambda path: path.parent):
        # A crash during the creation of a file leaves an empty file.
        begun = [path for path in queue if path.stat().st_size > 0]
        for path in begun:
            is_last = path == begun[-1]
            may_be_torn = is_last and _may_be_torn(path, is_clean=is_clean)
            yield _File(path.stat().st_size, may_be_torn)


def _may_be_torn(path: Path, *, is_clean: bool) -> bool:
    """Return whether a file may be shorter than its setting, so that a broker completes it.

    The rule is the engine's (`is_torn` in stored_queue/finding.rs). Such a file has no entries, or
    the broker was killed before the size of the file reached the disk.
    """
    size = path.stat().st_size
    if size % _BLOCK_BYTES != 0:
        return False
    with path.open("rb") as file:
        has_entries = any(file.read(_ENTRY_BYTES))
    return not has_entries or (not is_clean and size % _SLICE_BYTES == 0)


def _check(queues: Path, files: list[_File], given: int) -> QueueSize:
    # Rounded as a broker does.
    size = -(-given // _ENTRY_BYTES) * _ENTRY_BYTES
    sizes = {file.size for file in files if not (file.may_be_torn and file.size < size)}
    if sizes and size not in sizes:
        raise CommandError(
            f"the queue files in {queues} have another size than the new ones would have",
            why=f"their sizes in bytes are {sorted(sizes)}, {_OPTION} makes it {size}",
            next_step=f"give {_OPTION} as broker.conf has {_SETTING}, or leave it out;"
            " if broker.conf was changed on purpose, move those files away first",
            exit_code=ExitCode.USAGE,
        )
    return QueueSize(size, None)


def _read_size(files: list[_File]) -> QueueSize:
    """Return the size that most files have, the size set for the broker, and a doubt.

    A broker rounds it to whole entries. Files that may be torn are used only if no other file
    exists, and then the size is in doubt.
    """
    complete = [file for file in files if file.size % _ENTRY_BYTES == 0]
    whole = [file for file in complete if not file.may_be_torn]
    sizes = Counter(file.size for file in whole or complete)
    size = max(sizes, key=lambda size: (sizes[size], size), default=_DEFAULT_BYTES)
    if whole:
        return QueueSize(size, None)
    if complete:
        reported_by, end = "only queue files that a crash may have cut short show", ""
    else:
        reported_by, end = "no queue file shows", f", as without {_SETTING}"
    return QueueSize(size, f"{reported_by} the size of the new ones: {size} bytes{end}")
