"""Hold out when whoever reads the output of a command leaves, as `head` does.

What only looks ends then, since nobody looks any more. What changes something goes on to its end
with its output dropped, and ends as it would have: a closed pipe decides nothing. So it is where
what was printed can't be kept, on a full disk for one, but what only looks has failed then.
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
    """Have the command go on to its end even if its reader leaves: it changes something."""
    _outlives_reader.set(True)


@contextmanager
def new_output() -> Iterator[None]:
    """Begin the output of one command, of which nothing is known yet."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by whoever began us; errors would be printed among the result otherwise.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
    token = _outlives_reader.set(False)
    try:
        yield
    finally:
        _outlives_reader.reset(token)


@contextmanager
def reader() -> Iterator[None]:
    """Write to whoever reads; drop it, and all that follows, when they are gone.

    Raises:
        BrokenPipeError: they are, and the command only looks.
        CommandError: it can't be kept, and the command only looks.
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
    """Print what is not the result, such as progress or an error, on standard error."""
    try:
        print(text, file=sys.stderr)  # noqa: T201 - the product
    except BrokenPipeError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Send what is left to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
