"""Report an invalid command line in the format of all other errors."""

import inspect
import re
import shlex
from functools import reduce
from typing import Final

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from backend.cli.errors import CommandError, ExitCode

_MEANT: Final = re.compile(r'Did you mean "?(?P<name>[\w-]+)"?\?')


def usage_error(error: CycloptsError, app: App) -> CommandError:
    """Return what is wrong with the line, and the help that shows its syntax."""
    command = " ".join(("regent", *(error.command_chain or ())))
    what, why = _describe(error, command)
    next_step = f"{command} --help"
    if _asks_json(error):
        why = "JSON is asked for with -o json"
        next_step = f"{command} … -o json, or {next_step}"
    elif line := _getting(error, app):
        why, next_step = f"did you mean {line}?", f"{line}, or {next_step}"
    elif meant := _MEANT.search(str(error)):
        why = f"did you mean {meant['name']}?"
        if isinstance(error, UnknownCommandError):
            next_step = f"{command} {meant['name']}, or {next_step}"
    return CommandError(what, why=why, next_step=next_step, exit_code=ExitCode.USAGE)


def _describe(error: CycloptsError, command: str) -> tuple[str, str | None]:
    unused = [repr(token) for token in error.unused_tokens or ()]
    match error:
        case UnknownCommandError():
            return f"{command} has no command {unused[0]}", None
        case UnusedCliTokensError():
            noun = "argument" if len(unused) == 1 else "arguments"
            return f"unexpected {noun}: {', '.join(unused)}", None
        case MissingArgumentError(argument=argument, keyword=keyword) if argument is not None:
            needs = f"{keyword} needs a value" if keyword else f"{command} needs {argument.name}"
            return needs, None
        case _:
            what, _, why = _MEANT.sub("", str(error)).strip().rstrip(".").partition(". ")
            return _begun_small(what), _begun_small(why) or None


def _asks_json(error: CycloptsError) -> bool:
    return (
        isinstance(error, UnknownOptionError)
        and error.token.keyword == "--json"
        and any("--output" in one.names for one in error.argument_collection)
    )


def _getting(error: CycloptsError, app: App) -> str | None:
    """Write the line for one item, for a list command that was given a name."""
    unused = error.unused_tokens or ()
    *nouns, verb = error.command_chain or ("",)
    if not isinstance(error, UnusedCliTokensError) or verb != "list" or len(unused) != 1:
        return None
    noun = reduce(App.__getitem__, nouns, app)
    if "get" not in set(noun) or (shown := noun["get"].default_command) is None:
        return None
    places = [
        one
        for one in inspect.signature(shown).parameters.values()
        if one.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    return shlex.join(["regent", *nouns, "get", *unused]) if len(places) == 1 else None


def _begun_small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
