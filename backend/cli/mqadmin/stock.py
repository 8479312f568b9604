"""Hold the commands of stock 5.5.0's mqadmin with their options, and parse them as stock does.

`stock_commands.tsv` was written from stock's own help, and an interop test compares it with stock.
Each line has a command, then its options as `short|long`, with `flag` for options without a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Final

from backend.cli.errors import CommandError, ExitCode

IGNORED: Final = {
    "n": "REGENT_URL or --server gives the control plane, not the name servers",
    "a": "every control plane answers for the controller",
}
"""Options that name the server; `-a` is one if its long name is `controllerAddress`."""


@dataclass(frozen=True, slots=True)
class StockOption:
    """Hold an option: its names without dashes, whether it has a value and is required."""

    short: str
    long: str
    is_flag: bool
    is_required: bool

    @property
    def name(self) -> str:
        """Return the option's name in translations."""
        return self.short or self.long


@dataclass(frozen=True, slots=True)
class StockCommand:
    """Hold a command of mqadmin."""

    name: str
    options: tuple[StockOption, ...]


@cache
def stock_commands() -> Mapping[str, StockCommand]:
    """Return stock's commands by name, in stock's order."""
    text = (files(__package__) / "stock_commands.tsv").read_text()
    return {command.name: command for command in map(_command, text.splitlines())}


def find_command(name: str) -> StockCommand:
    """Find a command.

    Raises:
        CommandError: mqadmin has no command of that name.
    """
    found = stock_commands().get(name)
    if found is not None:
        return found
    near = get_close_matches(name, stock_commands(), n=3)
    raise CommandError(
        f"mqadmin has no command {name!r}",
        why=f"near are {', '.join(near)}" if near else None,
        next_step="regent mqadmin",
        exit_code=ExitCode.USAGE,
    )


def read_options(command: StockCommand, arguments: Sequence[str]) -> dict[str, str]:
    """Parse options as stock does, by their short names; a given flag is `true`.

    Raises:
        CommandError: an option is unknown, lacks its value, or is required and missing.
    """
    known = {f"-{one.short}": one for one in command.options if one.short}
    known |= {f"--{one.long}": one for one in command.options if one.long}
    # Stock adds these two options to every command.
    known |= dict.fromkeys(("-n", "--namesrvAddr"), StockOption("n", "namesrvAddr", False, False))  # noqa: FBT003
    given: dict[str, str] = {}
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        option = known.get(name)
        if option is None:
            raise _misuse(command, f"{word!r} is none of its options")
        if option.is_flag:
            value = "true"
        elif not equals:
            if not left:
                raise _misuse(command, f"{word} needs a value")
            value = left.pop(0)
        given[option.name] = value
    missing = [
        f"-{one.short}"
        for one in command.options
        if one.is_required and one.name not in given and one.long != "controllerAddress"
    ]
    if missing:
        raise _misuse(command, f"{', '.join(missing)} must be given")
    return given


def usage(command: StockCommand) -> str:
    """Write a command with its options on one line."""
    words = []
    for one in command.options:
        word = f"-{one.short}" if one.short else f"--{one.long}"
        if not one.is_flag:
            word += f" <{one.long or one.short}>"
        words.append(word if one.is_required else f"[{word}]")
    return " ".join(("regent mqadmin", command.name, *words))


def _misuse(command: StockCommand, why: str) -> CommandError:
    return CommandError(
        f"mqadmin {command.name} can't be read",
        why=why,
        next_step=usage(command),
        exit_code=ExitCode.USAGE,
    )


def _command(line: str) -> StockCommand:
    name, *options = line.split("\t")
    return StockCommand(name, tuple(_option(*one.split("|")) for one in options))


def _option(short: str, long: str, *marks: str) -> StockOption:
    return StockOption(short, long, is_flag="flag" in marks, is_required="required" in marks)
