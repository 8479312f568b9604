"""Report an invalid command line in the format of all other errors."""

import inspect
import re
import shlex
from collections.abc import Iterator
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
_VERBS_ELSEWHERE: Final = {
    "show": "get",
    "describe": "get",
    "info": "get",
    "ls": "list",
    "add": "create",
    "new": "create",
    "rm": "delete",
    "remove": "delete",
}
"""Verbs of other command lines, and those of this one."""
_MEANT_MAX: Final = 3


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
    elif isinstance(error, UnknownCommandError):
        if lines := _meant_commands(error, app):
            some = ", ".join(lines[:_MEANT_MAX])
            why = f"did you mean {some}{', …' if len(lines) > _MEANT_MAX else ''}?"
            next_step = f"{lines[0]} --help, or {next_step}"
    elif meant := _MEANT.search(str(error)):
        why = f"did you mean {meant['name']}?"
    return CommandError(what, why=why, next_step=next_step, exit_code=ExitCode.USAGE)


def commands(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """Give every command and noun with its words, each by its first name; import all of them."""
    seen = set()
    for name in app:
        command = app[name]
        if name.startswith("-") or id(command) in seen:
            continue
        seen.add(id(command))
        yield (*path, name), command
        yield from commands(command, (*path, name))


def _meant_commands(error: UnknownCommandError, app: App) -> list[str]:
    """Write the commands that an unknown word may mean."""
    from backend.cli.mqadmin.stock import stock_commands  # noqa: PLC0415 - only errors need it

    word, chain = (error.unused_tokens or ("",))[0], error.command_chain or ()
    level = reduce(App.__getitem__, chain, app)
    if _VERBS_ELSEWHERE.get(word) in set(level):
        return [shlex.join(("regent", *chain, _VERBS_ELSEWHERE[word]))]
    all_commands = list(commands(app))
    named = [path for path, _ in all_commands if path[-1] == word]
    if not named and word in stock_commands():
        named = [("mqadmin", word)]
    if not named:
        mention = re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE)
        nouns = (it for it in all_commands if it[0][:-1] == chain and it[1].default_command is None)
        named = [path for path, noun in nouns if mention.search(noun.help or "")]
    if not named and (near := _MEANT.search(str(error))):
        named = [(*chain, near["name"])]
    return [shlex.join(("regent", *path)) for path in named]


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
