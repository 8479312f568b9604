"""The commands `regent user …`: users and their roles."""

import getpass
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from backend.cli.clusters import Limit
from backend.cli.confirmation import Confirm, confirm_name
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import Columns, joined, print_json, print_line, time_text
from backend.cli.paging import ask, show_items, show_list
from backend.cli.reader import print_note
from backend.cli.rest import connect, segment
from backend.cli.target import Options
from backend.cli.words import WORDS
from backend.domain.user import Role

user = App(name=["user", "users"], help="Manage users, and change your own password.")

RoleName = Annotated[Role, WORDS]
Patterns = Annotated[list[str] | None, Parameter(name=["--cluster"], negative="")]


@user.command(name="list")
def list_users(*, limit: Limit = 100, options: Options = Options()) -> None:
    """List users by name; only administrators can do this.

    Example:
        regent user list

    Args:
        limit: Maximum number of users.
        options: Which server, and how to print.
    """
    show_list(options, "/users", COLUMNS, limit=limit)


@user.command(name=["get", "show"])
def get_user(name: str, /, *, options: Options = Options()) -> None:
    """Show one user; only administrators can do this.

    Example:
        regent user get anna

    Args:
        name: Name of the user.
        options: Which server, and how to print.
    """
    show_items(options, ask(options, f"/users/{segment(name)}"), COLUMNS)


@user.command(name="add")
def add_user(
    name: str,
    /,
    *,
    role: RoleName = Role.VIEWER,
    cluster: Patterns = None,
    options: Options = Options(),
) -> None:
    """Add a user, and print the one-time password for the user's first sign-in.

    Examples:
        regent user add anna
        regent user add bela --role operator --cluster "staging-*" --cluster test

    Args:
        name: Name of the user.
        role: Role of the user: viewer can look, operator can also change clusters, admin can also
            manage users.
        cluster: Only in clusters of this name; `*` matches any characters. Repeatable.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        wanted = {"name": name, "role": role, "cluster_patterns": cluster or ["*"]}
        invited = client.post("/users", wanted)
    _print_invited(invited, options)


@user.command(name="role")
def change_role(
    name: str,
    role: RoleName,
    /,
    *,
    cluster: Patterns = None,
    reason: str | None = None,
    confirm: Confirm = None,
    options: Options = Options(),
) -> None:
    """Change a user's role, or the clusters of the role.

    The last administrator keeps the role admin.

    Examples:
        regent user role anna operator
        regent user role anna operator --cluster "staging-*"
        regent user role anna viewer --cluster "*" --confirm anna --reason "left the team"

    Args:
        name: Name of the user.
        role: New role, from the user's next request on.
        cluster: Only in clusters of this name; `*` matches any characters. Repeatable. Default: the
            user's clusters stay unchanged.
        reason: Reason for the change, for the audit.
        confirm: The user's name, so that the command does not ask for it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        where = f" of clusters {', '.join(cluster)}" if cluster else ""
        confirm_name(name, confirm, what=f"{name} will be {role}{where} at {client.target.server}.")
        wanted = {"role": role, "cluster_patterns": cluster, "reason": reason}
        changed = client.put(f"/users/{segment(name)}/role", wanted)
    _print_changed(changed, options)


@user.command(name="disable")
def disable_user(
    name: str,
    /,
    *,
    reason: str | None = None,
    confirm: Confirm = None,
    options: Options = Options(),
) -> None:
    """Disable a user: the user's sessions end, and the user's tokens stop working.

    You cannot disable the last administrator.

    Example:
        regent user disable anna --reason "left the company"

    Args:
        name: Name of the user.
        reason: Reason for the change, for the audit.
        confirm: The user's name, so that the command does not ask for it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        confirm_name(name, confirm, what=f"{name} will be kept out of {client.target.server}.")
        changed = client.post(f"/users/{segment(name)}/disable", {"reason": reason})
    _print_changed(changed, options)


@user.command(name="enable")
def enable_user(
    name: str,
    /,
    *,
    reason: str | None = None,
    options: Options = Options(),
) -> None:
    """Enable a disabled user; the user's tokens work again too.

    Example:
        regent user enable anna

    Args:
        name: Name of the user.
        reason: Reason for the change, for the audit.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        changed = client.post(f"/users/{segment(name)}/enable", {"reason": reason})
    _print_changed(changed, options)


@user.command(name="reset-password")
def reset_password(
    name: str,
    /,
    *,
    confirm: Confirm = None,
    options: Options = Options(),
) -> None:
    """Replace a user's password with a one-time password, and end the user's sessions.

    Example:
        regent user reset-password anna

    Args:
        name: Name of the user.
        confirm: The user's name, so that the command does not ask for it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        confirm_name(name, confirm, what=f"{name} will be signed out everywhere.")
        invited = client.post(f"/users/{segment(name)}/reset-password")
    _print_invited(invited, options)


@user.command(name="password")
def change_password(
    *,
    stdin: Annotated[bool, Parameter(negative="")] = False,
    options: Options = Options(),
) -> None:
    """Change your own password, and end your other sessions.

    Example:
        regent user password

    Args:
        stdin: Read the old and the new password from two lines of standard input.
        options: Which server, and how to print.
    """
    old, new = _passwords(is_piped=stdin)
    with connect(options) as client:
        body = {"old_password": old, "new_password": new}
        ended = client.put("/session/password", body)
    if options.output == "json":
        print_json(ended)
        return
    print_line(f"the password was changed; other sessions ended: {ended['ended_count']}")


def _passwords(*, is_piped: bool) -> tuple[str, str]:
    if is_piped:
        old, new = (sys.stdin.readline().rstrip("\r\n") for _ in range(2))
        return old, new
    if not sys.stdin.isatty():
        raise CommandError(
            "no passwords to read",
            why="standard input is not a terminal",
            next_step="regent user password --stdin < FILE",
            exit_code=ExitCode.USAGE,
        )
    old, new = getpass.getpass("Old password: "), getpass.getpass("New password: ")
    if getpass.getpass("New password again: ") != new:
        raise CommandError("the new passwords differ", exit_code=ExitCode.USAGE)
    return old, new


def _where(patterns: Sequence[str]) -> str:
    return "" if "*" in patterns else f" of clusters {', '.join(patterns)}"


def _state(one: Mapping[str, Any]) -> str:
    if one["disabled_at"] is not None:
        return f"disabled since {time_text(one['disabled_at'])}"
    if one["password_expires_at"] is not None:
        return f"one-time password until {time_text(one['password_expires_at'])}"
    return "enabled"


COLUMNS: Final[Columns] = {
    "NAME": "name",
    "ROLE": "role",
    "CLUSTERS": ("cluster_patterns", joined),
    "STATE": _state,
    "CREATED": ("created_at", time_text),
}


def _print_changed(changed: Mapping[str, Any], options: Options) -> None:
    if options.output == "json":
        print_json(changed)
        return
    where = _where(changed["cluster_patterns"])
    print_line(f"{changed['name']} is {changed['role']}{where}, {_state(changed)}")


def _print_invited(invited: Mapping[str, Any], options: Options) -> None:
    if options.output == "json":
        print_json(invited)
        return
    print_line(invited["password"])
    print_note(
        f"one-time password of {invited['name']} "
        f"({invited['role']}{_where(invited['cluster_patterns'])}), shown this once; to be "
        f"replaced with regent user password until {time_text(invited['password_expires_at'])}"
    )
