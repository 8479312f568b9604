"""Read the records of a log for `regent store dump`, and report unreadable parts."""

from collections.abc import Generator
from contextlib import closing
from typing import Final

from regent_engine import LogReader, LogRemark, Record, StoreError

from backend.cli import store_files
from backend.cli.errors import CommandError, ExitCode
from backend.cli.reader import print_note
from backend.cli.store_files import StorePaths
from backend.cli.store_options import progress

PAGE_RECORDS: Final = 500
REMARKS_SHOWN: Final = 50


class LogRecords:
    """The records of a log, the oldest first, and the remarks up to the last record taken."""

    def __init__(self, paths: StorePaths, position: int | None) -> None:
        self._paths = paths
        self._position = position
        self._remarks: list[LogRemark] = []

    def take(self, count: int, *, topic: str | None, queue_id: int | None) -> list[Record]:
        """Return the first records of a topic and a queue, at most `count`.

        Raises:
            CommandError: no record begins at the position, or a file cannot be read.
        """
        found: list[Record] = []
        with closing(self._items()) as items:
            for item in items:
                if isinstance(item, LogRemark):
                    self._remarks.append(item)
                elif topic in (None, item.topic) and queue_id in (None, item.queue_id):
                    found.append(item)
                    if len(found) == count:
                        break
        return found

    def _items(self) -> Generator[Record | LogRemark]:
        reader, is_over = self._reader(), False
        try:
            first, end = store_files.log_span(self._paths)
            start = max(first, self._position or 0)
            # Only few records may match: then only the progress is visible for a long time.
            with progress("reading the log", end - start) as advance:
                while not is_over:
                    records, remarks = reader.read(PAGE_RECORDS)
                    is_over = len(records) < PAGE_RECORDS
                    # The remark on a record is printed before the record.
                    page: list[Record | LogRemark] = [*remarks, *records]
                    yield from sorted(page, key=_position)
                    if records:
                        advance(records[-1].log_position - start)
        # A running broker that truncates its log may remove the newest segment.
        except (StoreError, OSError) as error:
            raise store_files.unreadable(self._paths, str(error)) from error

    def _reader(self) -> LogReader:
        try:
            return LogReader(
                str(self._paths.root),
                commit_log_path=str(self._paths.commit_log),
                position=self._position,
            )
        except StoreError as error:
            if self._position is None or error.code != "corrupt":
                raise store_files.unreadable(self._paths, str(error)) from error
            reason = str(error).rpartition(": ")[2]
            raise CommandError(
                f"no whole record begins at log position {self._position}",
                why=f"what lies there is none, or a damaged one: {reason}",
                next_step=f"take a position that this lists: regent store dump {self._paths.root}",
            ) from error

    def note_nothing(self, *, topic: str | None, queue_id: int | None) -> None:
        """Print on standard error that there was no record."""
        wanted = "no message"
        if topic is not None:
            wanted += f" of topic {topic!r}"
        if queue_id is not None:
            wanted += f" in queue {queue_id}"
        where = "in this log" if self._position is None else f"from position {self._position} on"
        hint = f"; what there is: regent store stats {self._paths.root}"
        print_note(f"there is {wanted} {where}" + (hint if wanted != "no message" else ""))

    def print_remarks(self) -> None:
        """Print the remarks on standard error."""
        for remark in self._remarks[:REMARKS_SHOWN]:
            print_note(
                f"log positions {remark.position} to {remark.next_position}: {remark.text}"
                + ("; no record of them is shown" if remark.is_gap else "")
            )
        if len(self._remarks) > REMARKS_SHOWN:
            print_note(f"… and {len(self._remarks) - REMARKS_SHOWN} more such places")

    def refuse_gaps(self) -> None:
        """Report that records are missing in the output.

        Raises:
            CommandError: records are missing.
        """
        if any(remark.is_gap for remark in self._remarks):
            raise incomplete(self._paths, "shown")


def incomplete(paths: StorePaths, done: str) -> CommandError:
    """Report that parts of a log cannot be read, and which work is therefore not done."""
    return CommandError(
        f"parts of the log in {paths.commit_log} are damaged or missing; what they held is not"
        f" {done}",
        next_step=f"regent store verify {paths.root}",
        exit_code=ExitCode.PARTLY_DONE,
    )


def _position(item: Record | LogRemark) -> int:
    return item.position if isinstance(item, LogRemark) else item.log_position
