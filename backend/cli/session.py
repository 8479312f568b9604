"""The commands that sign in and out: `regent login`, `logout`, `whoami`."""

import getpass
import sys
from typing import Annotated

from cyclopts import Parameter

from backend.cli.errors import CommandError, ExitCode
from backend.cli.logins import Login, forget_login, save_login
from backend.cli.output import print_json, print_line, print_note, time_text
from backend.cli.reader import outlive_reader
from backend.cli.rest import RestClient, connect
from backend.cli.target import LOCAL_USER, Options, Target, find_target


def login(
    *,
    name: str = LOCAL_USER,
    password_stdin: Annotated[bool, Parameter(negative="")] = False,
    options: Options = Options(),  # noqa: B008 - frozen
) -> None:
    """Sign in and keep the session's token for the commands that follow.

    Asks for the password; that of a local cluster is found in its directory.

    Examples:
        regent login --server https://regent.example.org
        regent login --name anna --password-stdin < password.txt

    Args:
        name: Name of the user.
        password_stdin: Read the password from standard input.
        options: Which server, and how to print.
    """
    target = find_target(options)
    password = _password(target, name, is_piped=password_stdin)
    with RestClient(Target(target.server, target.origin, restart=target.restart)) as client:
        outlive_reader()
        session = client.sign_in(name, password)
    path = save_login(Login(target.server, session["token"]))
    if session.get("must_change_password"):
        print_note("this is a one-time password; choose your own now: regent user password")
    if options.output == "json":
        print_json({"server": target.server, "name": session["name"], "role": session["role"]})
        return
    print_line(
        f"signed in to {target.server} as {session['name']} ({session['role']}) "
        f"until {time_text(session['expires_at'])}; the token is in {path}"
    )


def logout(*, options: Options = Options()) -> None:  # noqa: B008
    """End the saved session and forget its token.

    Example:
        regent logout
    """
    target = find_target(options)
    if target.token is None:
        raise CommandError(
            f"not signed in to {target.server}",
            why="no token is saved for it",
            next_step=f"regent login --server {target.server}",
            exit_code=ExitCode.NOT_ALLOWED,
        )
    try:
        with RestClient(target) as client:
            client.delete("/session")
    except CommandError as error:
        # A session that is over already is what was asked for.
        if error.exit_code is not ExitCode.NOT_ALLOWED:
            raise
    finally:
        forget_login(target.server)
    print_line(f"signed out of {target.server}")


def whoami(*, options: Options = Options()) -> None:  # noqa: B008
    """Say who is signed in, where, and until when.

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


def _password(target: Target, name: str, *, is_piped: bool) -> str:
    if is_piped:
        password = sys.stdin.readline().rstrip("\r\n")
    elif target.password and name == LOCAL_USER:
        return target.password
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
