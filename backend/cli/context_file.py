"""Store contexts: named servers with a token, a default cluster and an output format.

All contexts are in one file that only its owner may read, since it holds tokens. Concurrent
commands change the file one after another, and each replacement is atomic.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from backend.cli.errors import CommandError, ExitCode
from backend.cli.private_file import write_private
from backend.cli.reader import outlive_reader

FORMS: Final = ("table", "json", "yaml")
_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}")
_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True)
class Context:
    """Hold a named server; a value that is None is not set.

    `cluster` is the default cluster, `output` the output format.
    """

    name: str
    server: str
    token: str | None = field(default=None, repr=False)
    cluster: str | None = None
    output: str | None = None


@dataclass(slots=True)
class Contexts:
    """Hold all contexts by name, and the name of the context in use."""

    current: str | None = None
    by_name: dict[str, Context] = field(default_factory=dict)

    def get(self, name: str) -> Context:
        """Return the context with a name.

        Raises:
            CommandError: no context has this name.
        """
        found = self.by_name.get(name)
        if found is not None:
            return found
        near = get_close_matches(name, self.by_name, n=1)
        why = f"did you mean {near[0]}?" if near else f"{context_path()} holds none of that name"
        raise CommandError(
            f"no context {name!r}",
            why=why,
            next_step="regent context list" if self.by_name else "regent login --server URL",
            exit_code=ExitCode.NOT_FOUND,
        )

    def in_use(self) -> Context | None:
        """Return the default context."""
        return None if self.current is None else self.by_name.get(self.current)

    def of_server(self, server: str) -> Context | None:
        """Return a context of a server: if possible the context in use, else the first."""
        current = self.in_use()
        if current is not None and current.server == server:
            return current
        names = sorted(one.name for one in self.by_name.values() if one.server == server)
        return self.by_name[names[0]] if names else None

    def put(self, context: Context) -> None:
        """Add a context, or replace the context of the same name."""
        self.by_name[context.name] = context


def context_path() -> Path:
    """Return the path of the file: below the user's configuration directory."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "regent" / "contexts.json"


def check_context_name(name: str) -> str:
    """Return the name of a new context if it is valid.

    Raises:
        CommandError: it is empty, too long, or holds more than letters, digits and ._-.
    """
    if _NAME.fullmatch(name) is None:
        raise CommandError(
            f"{name!r} can't name a context",
            why="it takes 1 to 64 letters, digits and ._-, no sign first",
            exit_code=ExitCode.USAGE,
        )
    return name


def read_contexts() -> Contexts:
    """Read all contexts; without a file there are none.

    Raises:
        CommandError: the file can't be read, has another format, or is readable by other users.
    """
    path = context_path()
    try:
        with path.open() as file:
            mode = os.fstat(file.fileno()).st_mode
            content = json.load(file)
        found = _parse(content)
    except FileNotFoundError:
        return Contexts()
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise CommandError(
            f"cannot read the contexts in {path}",
            why=f"{type(error).__name__}: {error}",
            next_step=f"mend the file, or move it away and sign in again: mv {path} {path}.old",
        ) from error
    if mode & _OTHERS and any(one.token for one in found.by_name.values()):
        raise CommandError(
            f"others may read the tokens in {path}",
            why=f"its mode is {mode & 0o777:o}",
            next_step=f"chmod 600 {path}",
            exit_code=ExitCode.NOT_ALLOWED,
        )
    return found


@contextmanager
def change_contexts() -> Iterator[Contexts]:
    """Yield the contexts to change, and save them after success, under a lock of the file.

    Raises:
        CommandError: the file can't be read or written.
    """
    path = context_path()
    outlive_reader()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        contexts = read_contexts()
        yield contexts
        try:
            _write(path, contexts)
        except OSError as error:
            raise _unwritable(path, error) from error
    finally:
        os.close(lock)


def _unwritable(path: Path, error: OSError) -> CommandError:
    return CommandError(f"cannot write {path}", why=str(error))


def _parse(content: dict[str, Any]) -> Contexts:
    names = {one.name for one in fields(Context)} - {"name"}
    found = {}
    for name, settings in content["contexts"].items():
        values = {key: settings[key] for key in names & settings.keys()}
        if not all(value is None or isinstance(value, str) for value in values.values()):
            raise TypeError(f"context {name} holds what is no text")
        found[name] = Context(name, **values)
    return Contexts(content.get("current"), found)


def _write(path: Path, contexts: Contexts) -> None:
    content = {
        "current": contexts.current,
        "contexts": {
            name: {
                key: value
                for key, value in asdict(one).items()
                if value is not None and key != "name"
            }
            for name, one in sorted(contexts.by_name.items())
        },
    }
    write_private(path, json.dumps(content, indent=1))
