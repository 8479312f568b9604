"""The options that several `regent store` commands share, and progress over a long read."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol

from cyclopts import Parameter, validators
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from backend.cli.store_settings import FILE_SIZE_MAX
from backend.cli.terminal import progress_console

# About twenty steps a second, so that Ctrl-C is heard at once.
STEP_BYTES: Final = 32 << 20

# Log positions, and what is counted, are signed 64-bit integers in the engine.
NUMBER_MAX: Final = (1 << 63) - 1

Output = Annotated[Literal["table", "json"], Parameter(name=["--output", "-o"])]
Config = Annotated[Path | None, Parameter(name="--config")]
CommitLog = Annotated[Path | None, Parameter(name="--commit-log")]
DelayLevels = Annotated[str | None, Parameter(name="--delay-levels")]
IndexSlots = Annotated[
    int | None, Parameter(name="--index-slots", validator=validators.Number(gte=1))
]
QueueFileSize = Annotated[
    int | None,
    Parameter(name="--queue-file-size", validator=validators.Number(gte=20, lte=FILE_SIZE_MAX)),
]
BatchQueueFileSize = Annotated[
    int | None,
    Parameter(
        name="--batch-queue-file-size", validator=validators.Number(gte=46, lte=FILE_SIZE_MAX)
    ),
]
# Entry 0 is never used.
IndexEntries = Annotated[
    int | None, Parameter(name="--index-entries", validator=validators.Number(gte=2))
]
# Whether records end in a checksum: that of a broker's Survey or Rebuild.
Crc = Annotated[bool, Parameter(name="--crc", negative="")]


class LogReader(Protocol):
    """What reads a log piece by piece: a survey, or a rebuild."""

    @property
    def total_bytes(self) -> int:
        """Bytes to read at most."""

    @property
    def done_bytes(self) -> int:
        """Bytes read."""

    def advance(self, size: int) -> bool:
        """Read on over about `size` bytes; false once all is read."""


@contextmanager
def progress(label: str, total_bytes: int) -> Iterator[Callable[[int], None]]:
    """Show rate and remaining time on a terminal; what is given is told how many bytes are done."""
    with Progress(
        TextColumn(label),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=progress_console(),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as shown:
        task = shown.add_task("", total=total_bytes)
        yield lambda done_bytes: shown.update(task, completed=done_bytes)


def read_through(reader: LogReader, *, label: str) -> None:
    """Read the whole log, showing progress on a terminal."""
    with progress(label, reader.total_bytes) as tell:
        while reader.advance(STEP_BYTES):
            tell(reader.done_bytes)
