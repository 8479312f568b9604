"""The sizes of the queue files of a rebuild: as given, else as the present files have them."""

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


@dataclass(frozen=True, slots=True)
class _Kind:
    """The evidence for the size of one kind of queue files."""

    title: str
    option: str
    setting: str
    entry_bytes: int
    default_bytes: int


_PLAIN: Final = _Kind("queue", "--queue-file-size", "mappedFileSizeConsumeQueue", 20, 6_000_000)
_BATCH: Final = _Kind(
    "batch queue",
    "--batch-queue-file-size",
    "mapperFileSizeBatchConsumeQueue",
    46,
    13_800_000,
)


@dataclass(frozen=True, slots=True)
class _File:
    """A queue file, and whether a crash may have left it shorter than planned."""

    size: int
    may_be_torn: bool


@dataclass(frozen=True, slots=True)
class QueueSizes:
    """The sizes in bytes, and why a broker may use others, if no file proves them."""

    plain: int
    batch: int
    plain_doubt: str | None
    batch_doubt: str | None


def choose(paths: StorePaths, settings: StoreSettings) -> QueueSizes:
    """Decide the size of the new queue files.

    Raises:
        CommandError: present files have another size than the given one, or cannot be read.
    """
    is_clean = not (paths.root / "abort").exists()
    try:
        plain_files = list(_files(paths.queues, _PLAIN, is_clean=is_clean))
        batch_files = list(_files(paths.batch_queues, _BATCH, is_clean=is_clean))
    except OSError as error:
        raise unreadable(paths, str(error)) from error
    plain_bytes, plain_doubt = _choose(paths.queues, _PLAIN, plain_files, settings.queue_file_size)
    batch_bytes, batch_doubt = _choose(
        paths.batch_queues, _BATCH, batch_files, settings.batch_queue_file_size
    )
    return QueueSizes(plain_bytes, batch_bytes, plain_doubt, batch_doubt)


def note_doubts(paths: StorePaths, sizes: QueueSizes) -> None:
    """Name the sizes without proof, and the options that set them.

    For a store without batch queues, their size is not mentioned.
    """
    if sizes.plain_doubt is not None:
        _note(_PLAIN, sizes.plain_doubt)
    has_batch_queues = paths.batch_queues.is_dir() and any(paths.batch_queues.iterdir())
    if sizes.batch_doubt is not None and has_batch_queues:
        _note(_BATCH, sizes.batch_doubt)


def _note(kind: _Kind, doubt: str) -> None:
    print_note(
        f"{doubt}\n  next: if broker.conf sets {kind.setting}, give the same with {kind.option}:"
        " a broker with another size does not open the store"
    )


def _files(queues: Path, kind: _Kind, *, is_clean: bool) -> Iterator[_File]:
    named = (path for path in queues.glob("*/*/*") if SEGMENT_NAME.fullmatch(path.name))
    paths = sorted(path for path in named if path.is_file())
    for _, queue in groupby(paths, key=lambda path: path.parent):
        # A crash during the creation of a file leaves an empty file.
        begun = [path for path in queue if path.stat().st_size > 0]
        for path in begun:
            is_last = path == begun[-1]
            may_be_torn = is_last and _may_be_torn(path, kind, is_clean=is_clean)
            yield _File(path.stat().st_size, may_be_torn)


def _may_be_torn(path: Path, kind: _Kind, *, is_clean: bool) -> bool:
    """Return whether a file may be shorter than its setting, so that a broker completes it.

    The rule is the engine's (`is_torn` in stored_queue/finding.rs). Such a file has no entries, or
    the broker was killed before the size of the file reached the disk.
    """
    size = path.stat().st_size
    if size % _BLOCK_BYTES != 0:
        return False
    with path.open("rb") as file:
        has_entries = any(file.read(kind.entry_bytes))
    return not has_entries or (not is_clean and size % _SLICE_BYTES == 0)


def _choose(
    queues: Path, kind: _Kind, files: list[_File], given: int | None
) -> tuple[int, str | None]:
    if given is None:
        return _read_size(files, kind)
    # Rounded as a broker does.
    size = -(-given // kind.entry_bytes) * kind.entry_bytes
    sizes = {file.size for file in files if not (file.may_be_torn and file.size < size)}
    if sizes and size not in sizes:
        raise CommandError(
            f"the {kind.title} files in {queues} have another size than the new ones would have",
            why=f"their sizes in bytes are {sorted(sizes)}, {kind.option} makes it {size}",
            next_step=f"give {kind.option} as broker.conf has {kind.setting}, or leave it out;"
            " if broker.conf was changed on purpose, move those files away first",
            exit_code=ExitCode.USAGE,
        )
    return size, None


def _read_size(files: list[_File], kind: _Kind) -> tuple[int, str | None]:
    """Return the size that most files have, the size set for the broker, and a doubt.

    A broker rounds it to whole entries. Files that may be torn are used only if no other file
    exists, and then the size is in doubt.
    """
    complete = [file for file in files if file.size % kind.entry_bytes == 0]
    whole = [file for file in complete if not file.may_be_torn]
    sizes = Counter(file.size for file in whole or complete)
    size = max(sizes, key=lambda size: (sizes[size], size), default=kind.default_bytes)
    if whole:
        return size, None
    if complete:
        reported_by = f"only {kind.title} files that a crash may have cut short show"
        end = ""
    else:
        reported_by, end = f"no {kind.title} file shows", f", as without {kind.setting}"
    return size, f"{reported_by} the size of the new ones: {size} bytes{end}"
