"""Ask the user for the name of the target, unless an option gives the name."""

import sys
from typing import Annotated

from cyclopts import Parameter

from backend.cli.errors import CommandError, ExitCode
from backend.cli.reader import print_note

Confirm = Annotated[str | None, Parameter(name=["--confirm"])]


def confirm_name(name: str, given: str | None, *, what: str) -> None:
    """Continue only if the name was given, or is typed now.

    Raises:
        CommandError: the name is missing or wrong; nothing has been changed.
    """
    if given is None and sys.stdin.isatty():
        print_note(f"{what}\nType {name} to go on:")
        given = sys.stdin.readline().strip()
    if given is None:
        raise CommandError(
            "this must be confirmed",
            why="standard input is not a terminal",
            next_step=f"add --confirm {name}",
            exit_code=ExitCode.REFUSED,
        )
    if given != name:
        raise CommandError(
            "not confirmed; nothing was changed",
            why=f"{given!r} is not {name!r}",
            exit_code=ExitCode.REFUSED,
        )
