"""Tell of a line that is no command in the form that every other error has."""

import re
from typing import Final

from cyclopts import CycloptsError, MissingArgumentError, UnknownCommandError, UnusedCliTokensError

from backend.cli.errors import CommandError, ExitCode

_MEANT: Final = re.compile(r'Did you mean "?(?P<name>[\w-]+)"?\?')


def usage_error(error: CycloptsError) -> CommandError:
    """Say what is wrong with the line, and which help tells how it is written."""
    command = " ".join(("regent", *(error.command_chain or ())))
    what, why = _told(error, command)
    next_step = f"{command} --help"
    if meant := _MEANT.search(str(error)):
        why = f"did you mean {meant['name']}?"
        if isinstance(error, UnknownCommandError):
            next_step = f"{command} {meant['name']}, or {next_step}"
    return CommandError(what, why=why, next_step=next_step, exit_code=ExitCode.USAGE)


def _told(error: CycloptsError, command: str) -> tuple[str, str | None]:
    unused = [repr(token) for token in error.unused_tokens or ()]
    match error:
        case UnknownCommandError():
            return f"{command} has no command {unused[0]}", None
        case UnusedCliTokensError():
            return f"{command} has no place for {', '.join(unused)}", None
        case MissingArgumentError(argument=argument, keyword=keyword) if argument is not None:
            needs = f"{keyword} needs a value" if keyword else f"{command} needs {argument.name}"
            return needs, None
        case _:
            what, _, why = _MEANT.sub("", str(error)).strip().rstrip(".").partition(". ")
            return _begun_small(what), _begun_small(why) or None


def _begun_small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
