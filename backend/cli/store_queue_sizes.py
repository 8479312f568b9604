"""The sizes of the queue files that a rebuild makes: as told, else as those that are there."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from backend.cli.errors import CommandError, ExitCode
from backend.cli.reader import print_note
from backend.cli.store_files import SEGMENT_NAME, StorePaths


@dataclass(frozen=True, slots=True)
class _Kind:
    """What tells the size of one kind of queue files."""

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
class QueueSizes:
    """The sizes in bytes, and whether nothing told them but stock's defaults."""

    plain: int
    batch: int
    is_plain_assumed: bool
    is_batch_assumed: bool


def choose(paths: StorePaths, *, plain: int | None, batch: int | None) -> QueueSizes:
    """Decide how large queue files will be.

    Raises:
        CommandError: files that are there have another size than was given.
    """
    plain_bytes, is_plain_assumed = _choose(paths.queues, _PLAIN, plain)
    batch_bytes, is_batch_assumed = _choose(paths.batch_queues, _BATCH, batch)
    return QueueSizes(plain_bytes, batch_bytes, is_plain_assumed, is_batch_assumed)


def note_assumed(paths: StorePaths, sizes: QueueSizes) -> None:
    """Say which sizes nobody told, and how to give others.

    A store without batch queues hears nothing of their size.
    """
    if sizes.is_plain_assumed:
        _note(_PLAIN, sizes.plain)
    if sizes.is_batch_assumed and paths.batch_queues.is_dir() and any(paths.batch_queues.iterdir()):
        _note(_BATCH, sizes.batch)


def _note(kind: _Kind, size: int) -> None:
    print_note(
        f"no {kind.title} file tells the size of the new ones: {size} bytes, as without"
        f" {kind.setting}\n  next: if broker.conf sets that, give the same with {kind.option}:"
        " a broker with another size does not open the store"
    )


def _choose(queues: Path, kind: _Kind, given: int | None) -> tuple[int, bool]:
    files = (path for path in queues.glob("*/*/*") if SEGMENT_NAME.fullmatch(path.name))
    sizes = Counter(path.stat().st_size for path in files)
    # A crash leaves such files where it interrupts the making of one.
    del sizes[0]
    if given is None:
        # Most have the one that the broker was told to use.
        found = max(sizes, key=lambda size: (sizes[size], size), default=None)
        return (found, False) if found is not None else (kind.default_bytes, True)
    # As a broker rounds what it is given.
    size = -(-given // kind.entry_bytes) * kind.entry_bytes
    if sizes and size not in sizes:
        raise CommandError(
            f"the {kind.title} files in {queues} have another size than the new ones would have",
            why=f"their sizes in bytes are {sorted(sizes)}, {kind.option} makes it {size}",
            next_step=f"give {kind.option} as broker.conf has {kind.setting}, or leave it out;"
            " if broker.conf was changed on purpose, move those files away first",
            exit_code=ExitCode.USAGE,
        )
    return size, False
