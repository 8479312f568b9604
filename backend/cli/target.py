"""Find the server of a command, and the credential.

Typed options come first: `--server`, `--context` or `--data`, of which one may be given. Then
follow REGENT_URL, REGENT_CONTEXT, the context in use, and the local cluster of `regent up` in this
directory.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from backend.cli.context_file import FORMS, Context, read_contexts
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import choose_yaml

LOCAL_USER: Final = "admin"
LOCAL_DIR: Final = Path(".regent")
URL, CONTEXT, TOKEN = "REGENT_URL", "REGENT_CONTEXT", "REGENT_TOKEN"

Form = Literal["table", "json", "yaml"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """Hold the options of every command for a running cluster.

    They hold only typed values; the values of the environment are read below.
    """

    server: str | None = None
    """Address of the control plane: https://regent.example.org:8080. [env var: REGENT_URL]"""
    context: str | None = None
    """Context that names the server; see `regent context list`. [env var: REGENT_CONTEXT]"""
    token: str | None = None
    """API token. Default: the token of the context. [env var: REGENT_TOKEN]"""
    data: Path | None = None
    """Directory of a local cluster. Default: .regent, if nothing else names a server."""
    form: Annotated[Form | None, Parameter(name=["--output", "-o"], env_var="REGENT_OUTPUT")] = None
    """Output format. Default: the format of the context, else table."""

    @property
    def output(self) -> Literal["table", "json"]:
        """Choose the output format: a table for people, or data for programs."""
        form = self.form or _form_of(choose_context(self))
        choose_yaml(is_chosen=form == "yaml")
        return "table" if form == "table" else "json"


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """Hold the password of a local cluster, and the file of the session."""

    password: str = field(repr=False)
    session_path: Path


@dataclass(frozen=True, slots=True)
class Target:
    """Hold a server's address, how it was found, and the credential.

    The credential is a token, or the files of a local cluster's directory. `cluster` is the default
    cluster.
    """

    server: str
    origin: str
    token: str | None = field(default=None, repr=False)
    local: LocalAccess | None = None
    restart: str | None = None
    cluster: str | None = None
    context: str | None = None

    @property
    def login(self) -> str:
        """Return the command that signs in to the server."""
        if self.context is not None:
            return f"regent login --context {self.context}"
        if self.local is not None:
            return f"regent login --data {Path(self.origin).parent}"
        return f"regent login --server {self.server}"


def find_target(options: Options) -> Target:
    """Decide which server the command uses.

    Raises:
        CommandError: no server is named, stored or running here, or more than one is named.
    """
    context = choose_context(options)
    # A token of the environment is not sent to a server that was chosen by its name.
    token = options.token or (None if options.context else os.environ.get(TOKEN))
    if context is not None:
        return Target(
            context.server,
            f"the context {context.name}",
            token=token or context.token,
            cluster=context.cluster,
            context=context.name,
        )
    server = options.server or (None if options.data else os.environ.get(URL))
    if not server:
        return _local_target(options.data or LOCAL_DIR, token=token)
    server = server.rstrip("/")
    known = None if token else read_contexts().of_server(server)
    kept = None if known is None else known.token
    return Target(server, f"--server or {URL}", token=token or kept)


def choose_context(options: Options) -> Context | None:
    """Return the chosen context, if any.

    Raises:
        CommandError: the context does not exist, or another server is named too.
    """
    typed = {"--server": options.server, "--context": options.context, "--data": options.data}
    given = [name for name, value in typed.items() if value is not None]
    if len(given) > 1:
        raise CommandError(
            f"{' and '.join(given)} each name a server",
            next_step="leave all but one of them out",
            exit_code=ExitCode.USAGE,
        )
    if options.context is None and (given or os.environ.get(URL)):
        return None
    contexts = read_contexts()
    name = options.context or os.environ.get(CONTEXT)
    return contexts.get(name) if name else contexts.in_use()


def _form_of(context: Context | None) -> str:
    form = None if context is None else context.output
    return form if form in FORMS else "table"


def _local_target(directory: Path, *, token: str | None) -> Target:
    state_path = directory / "cluster.json"
    try:
        server = str(json.loads(state_path.read_text())["http"]["url"]).rstrip("/")
    except FileNotFoundError as error:
        raise _none_runs(directory) from error
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
        local=None if token else _local_access(directory),
        restart=f"regent up --data {directory}",
    )


def _none_runs(directory: Path) -> CommandError:
    if directory != LOCAL_DIR:
        return CommandError(
            f"no local cluster runs in {directory}",
            next_step=f"regent up --data {directory}",
            exit_code=ExitCode.USAGE,
        )
    return CommandError(
        "no cluster to speak to",
        why=f"no --server, {URL}, --context or {CONTEXT} names one, no context is in use, "
        f"and {directory} holds no local cluster",
        next_step="regent up, or regent login --server URL",
        exit_code=ExitCode.USAGE,
    )


def _local_access(directory: Path) -> LocalAccess | None:
    path = directory / "bootstrap-secret"
    try:
        password = path.read_text().strip()
        return LocalAccess(password, directory / "cli-session") if password else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CommandError(
            f"cannot read {path}",
            why=str(error),
            next_step="run the command as the user who runs `regent up`",
            exit_code=ExitCode.NOT_ALLOWED,
        ) from error
