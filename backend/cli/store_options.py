"""The options that several `regent store` commands share, and progress over a long read."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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

from backend.cli.store_settings import FILE_SIZE_MAX, StoreSettings, settings_of
from backend.cli.terminal import progress_console

# About twenty steps a second, so that Ctrl-C has an effect at once.
STEP_BYTES: Final = 32 << 20

# Log positions and counts are signed 64-bit integers in the engine.
NUMBER_MAX: Final = (1 << 63) - 1

Output = Annotated[Literal["table", "json"], Parameter(name=["--output", "-o"])]


_WHOLE: Final = validators.Number(gte=1)
# Entry 0 is never used.
_ENTRIES: Final = validators.Number(gte=2)
_QUEUE_FILE: Final = validators.Number(gte=20, lte=FILE_SIZE_MAX)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Options of every command: the settings of the broker."""

    config: Annotated[
        Path | None,
        Parameter(
            name="--config",
            help="The broker.conf of the broker. It gives the value of each option that you"
            " leave out.",
        ),
    ] = None
    commit_log: Annotated[
        Path | None,
        Parameter(
            name="--commit-log",
            help="Directory of the commit log, if the broker sets storePathCommitLog.",
        ),
    ] = None
    index_slots: Annotated[
        int | None,
        Parameter(
            name="--index-slots",
            help="The broker's maxHashSlotNum, if it is not 5000000.",
            validator=_WHOLE,
        ),
    ] = None
    index_entries: Annotated[
        int | None,
        Parameter(
            name="--index-entries",
            help="The broker's maxIndexNum, if it is not 20000000.",
            validator=_ENTRIES,
        ),
    ] = None

    def settings(self) -> StoreSettings:
        """Return the settings of these options and of the file that they name.

        Raises:
            CommandError: the file can't be read, or a broker refuses a value.
        """
        return settings_of(**asdict(self))


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedOptions(LogOptions):
    """Options of commands that compare or rebuild the files derived from the log."""

    delay_levels: Annotated[
        str | None,
        Parameter(
            name="--delay-levels",
            help="The broker's messageDelayLevel, if it is not RocketMQ's default. Queues of"
            " delayed messages hold their delivery times.",
        ),
    ] = None
    crc: Annotated[
        bool,
        Parameter(
            name="--crc",
            help="The broker has enabledAppendPropCRC=true. A record with a wrong checksum"
            " property is then damaged, and its commit log cannot be used for a rebuild."
            " Without --crc, such a record is valid, and the command only prints a note.",
            negative="",
        ),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildOptions(DerivedOptions):
    """Further options of a rebuild."""

    queue_file_size: Annotated[
        int | None,
        Parameter(
            name="--queue-file-size",
            help="The broker's mappedFileSizeConsumeQueue in bytes. Default: the size of the"
            " existing queue files, or 6000000.",
            validator=_QUEUE_FILE,
        ),
    ] = None


NO_LOG_OPTIONS: Final = LogOptions()
NO_DERIVED_OPTIONS: Final = DerivedOptions()
NO_REBUILD_OPTIONS: Final = RebuildOptions()


class LogReader(Protocol):
    """A reader of a log in steps: a survey, or a rebuild."""

    @property
    def total_bytes(self) -> int:
        """Bytes to read at most."""

    @property
    def done_bytes(self) -> int:
        """Bytes read."""

    def advance(self, size: int) -> bool:
        """Read about `size` more bytes; return false once all is read."""


@contextmanager
def progress(label: str, total_bytes: int) -> Iterator[Callable[[int], None]]:
    """Show rate and remaining time on a terminal; yield a function that takes the bytes done."""
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
    with progress(label, reader.total_bytes) as advance:
        while reader.advance(STEP_BYTES):
            advance(reader.done_bytes)
