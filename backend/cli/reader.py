"""Handle a reader that closes the output of a command, as `head` does.

A command that only reads then ends. A command that changes something drops its further output,
continues, and ends with its usual code. The same applies if the output can't be written, for
example on a full disk; then a command that only reads fails.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from backend.cli.errors import CommandError

_outlives_reader: ContextVar[bool] = ContextVar("outlives_reader", default=False)


def outlive_reader() -> None:
    """Let the command continue after its reader leaves: it changes something."""
    _outlives_reader.set(True)


@contextmanager
def new_output() -> Iterator[None]:
    """Reset the state for the output of a new command."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # The parent process closed it; errors would otherwise be mixed with the result.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
    token = _outlives_reader.set(False)
    try:
        yield
    finally:
        _outlives_reader.reset(token)


@contextmanager
def reader() -> Iterator[None]:
    """Write to the reader; after the reader has left, drop this and all further output.

    Raises:
        BrokenPipeError: the reader has left, and the command only reads.
        CommandError: the output can't be written, and the command only reads.
    """
    try:
        yield
    except BrokenPipeError:
        drop(sys.stdout)
        if not _outlives_reader.get():
            raise
    except OSError as error:
        drop(sys.stdout)
        lost = CommandError(
            "the result can't be written", why=error.strerror, next_step="print it elsewhere"
        )
        if not _outlives_reader.get():
            raise lost from error
        print_note(str(lost))


def print_note(text: str) -> None:
    """Print progress or an error, not the result, on standard error."""
    try:
        print(text, file=sys.stderr)  # noqa: T201 - the product
    except BrokenPipeError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Send the remaining output to /dev/null."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
