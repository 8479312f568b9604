"""Write the printed help of every command: `python -m tests.cli_help`.

One file for each noun, in tests/unit/cli/help, at a width of 100 and without colour.
"""

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

from rich.console import Console

from backend.cli import usage
from backend.cli.app import app, run

FOLDER = Path(__file__).resolve().parent / "unit" / "cli" / "help"
WIDTH = 100


def commands() -> list[tuple[str, ...]]:
    """Give the words of every command and noun, each by its first name."""
    return [path for path, _ in usage.commands(app)]


def help_of(path: tuple[str, ...]) -> str:
    """Print the help of a command."""
    printed = io.StringIO()
    # A command keeps the console of its first output, with the width of that time.
    console = Console(file=printed, width=WIDTH, color_system=None)
    with redirect_stdout(printed), patch.object(app, "_console", console):
        assert run([*path, "--help"]) == 0, path
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


@cache
def pages() -> Mapping[str, str]:
    """Give every file by its name, with its content."""
    found = {"regent": f"$ regent --help\n{help_of(())}"}
    for path in commands():
        page = f"$ regent {' '.join(path)} --help\n{help_of(path)}"
        found[path[0]] = found.get(path[0], "") + page + "\n"
    return {f"{name}.txt": page.rstrip() + "\n" for name, page in sorted(found.items())}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for path in FOLDER.glob("*.txt"):
        if path.name not in wanted:
            path.unlink()
    for name, page in wanted.items():
        (FOLDER / name).write_text(page)
