"""The commands that sign in and out: `regent login`, `logout`, `whoami`."""

import getpass
import re
import sys
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from backend.cli.context_file import (
    Context,
    Contexts,
    change_contexts,
    check_context_name,
)
from backend.cli.errors import CommandError, ExitCode
from backend.cli.local_session import kept_token
from backend.cli.output import print_json, print_line, time_text
from backend.cli.reader import outlive_reader, print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import LOCAL_USER, Options, Target, find_target


def login(
    *,
    name: str = LOCAL_USER,
    password_stdin: Annotated[bool, Parameter(negative="")] = False,
    options: Options = Options(),
) -> None:
    """Sign in, keep the session's token in a context, and use this context from now on.

    The command asks for the password. For a local cluster, it reads the password from the cluster's
    directory. If the server has no context, the command creates a context. Its name is the value of
    `--context`, or else the server's host name.

    Examples:
        regent login --server https://regent.example.org
        regent login --server https://staging.example.org --context staging
        regent login --context staging
        regent login --name anna --password-stdin < password.txt

    Args:
        name: Name of the user.
        password_stdin: Read the password from standard input.
        options: Which server, and how to print.
    """
    named = options.context
    if options.server and named:
        # Both options are allowed here: the context is the new name of the server.
        options = replace(options, context=None)
    else:
        named = None
    target = find_target(options)
    password = _password(target, name, is_piped=password_stdin)
    with RestClient(Target(target.server, target.origin, restart=target.restart)) as client:
        outlive_reader()
        session = client.sign_in(name, password)
    context = _keep(target, named, session["token"])
    if session.get("must_change_password"):
        print_note("this is a one-time password; choose your own now: regent user password")
    if options.output == "json":
        summary = {"server": target.server, "name": session["name"], "role": session["role"]}
        print_json({**summary, "context": context})
        return
    print_line(
        f"signed in to {target.server} as {session['name']} ({session['role']}) "
        f"until {time_text(session['expires_at'])}; context {context} is in use"
    )


def logout(*, options: Options = Options()) -> None:
    """End the session of a context and delete its token, but keep the context.

    Commands for a local cluster sign in by themselves; `regent logout` ends the session of these
    commands.

    Examples:
        regent logout
        regent logout --context staging
        regent logout --data .regent
    """
    target = find_target(options)
    token = target.token if target.local is None else kept_token(target.local.session_path)
    if token is None:
        raise CommandError(
            f"not signed in to {target.server}",
            why="no token is kept for it",
            next_step=target.login,
            exit_code=ExitCode.NOT_ALLOWED,
        )
    try:
        # Only this session is used: an ended session must not cause a new one.
        with RestClient(replace(target, token=token, local=None)) as client:
            client.delete("/session")
    except CommandError as error:
        # An ended session is the wanted result.
        if error.exit_code is not ExitCode.NOT_ALLOWED:
            raise
    finally:
        _forget(target)
    print_line(f"signed out of {target.server}")


def whoami(*, options: Options = Options()) -> None:
    """Show the signed-in user, the server, and the end of the session.

    Example:
        regent whoami
    """
    with connect(options) as client:
        session = client.get("/session")
        server = client.target.server
    if options.output == "json":
        print_json({"server": server, **session})
        return
    until = time_text(session["expires_at"])
    by = " by a token" if session.get("credential") == "token" else ""
    print_line(f"{session['name']} ({session['role']}){by} at {server} until {until}")
    # Both limits apply: those of the user, and those of the token.
    for patterns in session.get("cluster_limits", []):
        print_line(f"only clusters {', '.join(patterns)}")


def _password(target: Target, name: str, *, is_piped: bool) -> str:
    if is_piped:
        password = sys.stdin.readline().rstrip("\r\n")
    elif target.local and name == LOCAL_USER:
        return target.local.password
    elif sys.stdin.isatty():
        password = getpass.getpass(f"Password of {name} at {target.server}: ")
    else:
        raise CommandError(
            "no password to sign in with",
            why="standard input is not a terminal",
            next_step="regent login --password-stdin < FILE",
            exit_code=ExitCode.USAGE,
        )
    if not password:
        raise CommandError(
            "the password is empty",
            next_step="regent login",
            exit_code=ExitCode.USAGE,
        )
    return password


def _keep(target: Target, named: str | None, token: str) -> str:
    """Store a session's token in its context, select that context, and return its name."""
    with change_contexts() as contexts:
        name = named or target.context
        if name is None:
            known = contexts.of_server(target.server)
            name = known.name if known is not None else _new_name(target.server, contexts)
        known = contexts.by_name.get(check_context_name(name))
        if known is not None and known.server != target.server:
            raise CommandError(
                f"the context {name} is of another server",
                why=f"it stands for {known.server}",
                next_step=f"choose another name, or: regent context set {name} "
                f"--server {target.server}",
                exit_code=ExitCode.REFUSED,
            )
        contexts.put(replace(known or Context(name, target.server), token=token))
        contexts.current = name
    return name


def _forget(target: Target) -> None:
    """Delete a session's token from where it is stored: beside a password, or in contexts."""
    if target.local is not None:
        target.local.session_path.unlink(missing_ok=True)
        return
    with change_contexts() as contexts:
        for one in list(contexts.by_name.values()):
            if one.server == target.server and one.token == target.token:
                contexts.put(replace(one, token=None))


def _new_name(server: str, contexts: Contexts) -> str:
    """Name a context like the host of its server; if the name is taken, add the port."""
    parts = urlsplit(server)
    host = re.sub(r"[^a-zA-Z0-9._-]", "-", parts.hostname or "").strip("._-")[:40] or "server"
    if host not in contexts.by_name:
        return host
    name, number = f"{host}-{parts.port or parts.scheme}", 2
    while name in contexts.by_name:
        name, number = f"{host}-{number}", number + 1
    return name
