"""Keep the tokens of servers one has signed in to, in a file that only its owner reads."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.cli.errors import CommandError


@dataclass(frozen=True, slots=True)
class Login:
    """Hold a server's address and the token that opens it."""

    server: str
    token: str


def login_path() -> Path:
    """Return where logins are kept: below the user's configuration directory."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "regent" / "login.json"


def find_login(server: str | None = None) -> Login | None:
    """Return the login of a server, or of the one signed in to last."""
    content = _read()
    server = server or content.get("current")
    token = content.get("tokens", {}).get(server)
    return Login(server, token) if server and token else None


def save_login(login: Login) -> Path:
    """Keep a login and make its server the current one."""
    content = _read()
    tokens = {**content.get("tokens", {}), login.server: login.token}
    return _write({"current": login.server, "tokens": tokens})


def forget_login(server: str) -> None:
    """Drop the login of a server."""
    content = _read()
    tokens = {key: token for key, token in content.get("tokens", {}).items() if key != server}
    current = content.get("current")
    _write({"current": None if current == server else current, "tokens": tokens})


def _read() -> dict[str, Any]:
    path = login_path()
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CommandError(
            f"cannot read the saved logins in {path}",
            why=str(error),
            next_step=f"remove the file, then sign in again: rm {path} && regent login",
        ) from error
    return content if isinstance(content, dict) else {}


def _write(content: dict[str, Any]) -> Path:
    path = login_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    # Made unreadable to others before the first token is in it.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file, indent=1)
    temporary.replace(path)
    return path
