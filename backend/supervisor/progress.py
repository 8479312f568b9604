"""The output of a start: one line per step, each with its duration."""

import io
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TextIO, cast

from rich.console import Console
from rich.markup import escape


class _Output(io.TextIOBase):
    """Standard output that may be a closed terminal, a broken pipe or a file on a full disk.

    Output that can't be written is dropped, and the cluster continues.
    """

    def __init__(self) -> None:
        self._stream = sys.stdout

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


class Progress:
    """Print steps and facts to the terminal; as plain text if it is none."""

    def __init__(self) -> None:
        """Print to standard output."""
        self._console = Console(file=cast("TextIO", _Output()), highlight=False, soft_wrap=True)

    @asynccontextmanager
    async def step(self, title: str, *, first_time: bool = False) -> AsyncIterator[None]:
        """Show a step while it runs and, at its end, its duration."""
        started = time.monotonic()
        hint = " (first start: making its files)" if first_time else ""
        if self._console.is_terminal:
            with self._console.status(f"{title}{hint}"):
                yield
        else:
            yield
        took_s = time.monotonic() - started
        self._console.print(f"[green]ok[/green]  {title:<28} [dim]{took_s:5.1f} s[/dim]")

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names and values in two columns; values are not wrapped, for copying."""
        self._console.print()
        for name, value in facts.items():
            self._console.print(f"[bold]{name:<12}[/bold] {escape(value)}")
        self._console.print()

    def note(self, text: str) -> None:
        """Print and flush one line."""
        self._console.print(escape(text))
