"""Hold out when whoever reads the output of a command leaves, as `head` does.

What only looks ends then, since nobody looks any more. What changes something goes on to its end
with its output dropped, and ends as it would have: a closed pipe decides nothing.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

_outlives_reader: ContextVar[bool] = ContextVar("outlives_reader", default=False)


def outlive_reader() -> None:
    """Have the command go on to its end even if its reader leaves: it changes something."""
    _outlives_reader.set(True)


@contextmanager
def new_output() -> Iterator[None]:
    """Begin the output of one command, of which nothing is known yet."""
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
    """
    try:
        yield
    except BrokenPipeError:
        drop(sys.stdout)
        if not _outlives_reader.get():
            raise


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
