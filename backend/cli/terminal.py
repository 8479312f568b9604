"""Draw tables and lines on a terminal or for a pipe; imported for output for people only."""

import sys
from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from backend.cli.reader import drop

PIPE_WIDTH: Final = 240


def draw_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """Draw rows under headings; columns whose heading ends in `#` are right-aligned."""
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for column in columns:
        is_number = column.endswith("#")
        table.add_column(
            column.removesuffix("#"), justify="right" if is_number else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(value) for value in row))
    console = _console()
    if title:
        console.print(Text(title, style="bold"))
    console.print(table)


def draw_line(text: str) -> None:
    """Draw one line of the result."""
    _console().print(Text(text))


def progress_console() -> Console:
    """Return the console for progress: standard error."""
    return _NoteConsole(stderr=True)


class _ResultConsole(Console):
    """Raise the error again: the caller decides what a closed output means."""

    def on_broken_pipe(self) -> NoReturn:
        raise  # noqa: PLE0704 - called in an except block


class _NoteConsole(Console):
    """Drop further progress once the output is closed."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        drop(sys.stderr)


def _console() -> Console:
    # A pipe has no width; text that is cut off there is lost.
    return _ResultConsole(width=None if sys.stdout.isatty() else PIPE_WIDTH)
