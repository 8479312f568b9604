"""Find the server a command speaks to, and what it signs in with.

Options come first, then the environment, then the saved login, and last the local cluster that
`regent up` runs in a directory.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from backend.cli.errors import CommandError, ExitCode
from backend.cli.logins import find_login
from backend.cli.output import choose_yaml

LOCAL_USER: Final = "admin"
LOCAL_DIR: Final = Path(".regent")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """Hold the options that every command of a running cluster takes."""

    server: Annotated[str | None, Parameter(env_var="REGENT_URL")] = None
    """Address of the control plane, such as https://regent.example.org:8080."""
    token: Annotated[str | None, Parameter(env_var="REGENT_TOKEN")] = None
    """API token (`regent token create`); what `regent login` saved when left out."""
    data: Path | None = None
    """Directory of a local cluster (`regent up --data DIR`); .regent when nothing else is set."""
    output: Annotated[Literal["table", "json", "yaml"], Parameter(name=["--output", "-o"])] = (
        "table"
    )
    """Form of what is printed."""

    def __post_init__(self) -> None:
        """Leave commands two forms to tell apart: a table for people, and data for programs."""
        choose_yaml(is_chosen=self.output == "yaml")
        if self.output == "yaml":
            object.__setattr__(self, "output", "json")


@dataclass(frozen=True, slots=True)
class Target:
    """Hold a server's address, how it was found, and a token or a password for it."""

    server: str
    origin: str
    token: str | None = None
    password: str | None = None
    restart: str | None = None


def find_target(options: Options) -> Target:
    """Decide which server is meant.

    Raises:
        CommandError: none is named, none is saved and none runs here.
    """
    if options.server:
        server = options.server.rstrip("/")
        login = find_login(server)
        token = options.token or (login.token if login else None)
        return Target(server, "--server or REGENT_URL", token=token)
    if options.data is None and (login := find_login()):
        return Target(login.server, "the saved login", token=options.token or login.token)
    return _local_target(options.data or LOCAL_DIR, token=options.token)


def _local_target(directory: Path, *, token: str | None) -> Target:
    state_path = directory / "cluster.json"
    try:
        server = str(json.loads(state_path.read_text())["http"]["url"]).rstrip("/")
    except FileNotFoundError as error:
        raise CommandError(
            "no cluster to speak to",
            why=f"neither --server, REGENT_URL nor a saved login names one, "
            f"and {directory} holds no local cluster",
            next_step="regent up, or regent login --server URL",
            exit_code=ExitCode.USAGE,
        ) from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CommandError(
            f"cannot read {state_path}",
            why=f"{type(error).__name__}: {error}",
            next_step=f"regent up --data {directory}",
        ) from error
    return Target(
        server,
        str(state_path),
        token=token,
        password=None if token else _secret(directory),
        restart=f"regent up --data {directory}",
    )


def _secret(directory: Path) -> str | None:
    path = directory / "bootstrap-secret"
    try:
        return path.read_text().strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CommandError(
            f"cannot read {path}",
            why=str(error),
            next_step="run the command as the user who runs `regent up`",
            exit_code=ExitCode.NOT_ALLOWED,
        ) from error
