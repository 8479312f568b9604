"""The commands `regent session …`: list and end open sessions."""

from typing import Annotated

from cyclopts import App, Parameter

from backend.cli.clusters import Limit
from backend.cli.confirmation import Confirm, confirm_name
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import print_json, print_line, time_text
from backend.cli.paging import show_list
from backend.cli.rest import connect, segment
from backend.cli.target import Options

session = App(name=["session", "sessions"], help="List and end sessions.")


@session.command(name="list")
def list_sessions(
    *,
    user: str | None = None,
    limit: Limit = 100,
    options: Options = Options(),
) -> None:
    """List open sessions, the newest first: your sessions or, for administrators, all sessions.

    Examples:
        regent session list
        regent session list --user anna

    Args:
        user: Only sessions of this user.
        limit: Maximum number of sessions.
        options: Which server, and how to print.
    """
    show_list(
        options,
        "/sessions",
        {
            "ID": lambda one: f"{one['id']}{' (this one)' if one['is_own'] else ''}",
            "USER": "user_name",
            "FROM": "source",
            "WITH": "user_agent",
            "OPENED": ("created_at", time_text),
            "LAST USED": ("last_used_at", time_text),
            "EXPIRES": ("expires_at", time_text),
        },
        limit=limit,
        user_name=user,
    )


@session.command(name="end")
def end_session(
    session_id: str | None = None,
    /,
    *,
    everywhere: Annotated[bool, Parameter(negative="")] = False,
    user: str | None = None,
    confirm: Confirm = None,
    options: Options = Options(),
) -> None:
    """End one session, or all sessions of a user.

    Only an administrator can end sessions of another user.

    Examples:
        regent session end 0f8e4c1a-3b52-4a7e-8d11-6f0a2c9b7e54
        regent session end --everywhere
        regent session end --everywhere --user anna --confirm anna

    Args:
        session_id: Id of the session, as `regent session list` shows it.
        everywhere: End all sessions of a user. Default: your own sessions.
        user: Name of the user.
        confirm: The user's name, so that the command does not ask for it. Only --user needs the
            name.
        options: Which server, and how to print.
    """
    if (session_id is None) is not everywhere:
        raise CommandError(
            "which session?",
            why="give either the id of one, or --everywhere",
            next_step="regent session list",
            exit_code=ExitCode.USAGE,
        )
    with connect(options) as client:
        if session_id is not None:
            client.delete(f"/sessions/{segment(session_id)}")
            print_line(f"session {session_id} is ended")
            return
        if user is not None:
            confirm_name(user, confirm, what=f"{user} will be signed out everywhere.")
        ended = client.delete("/sessions", everywhere="true", user_name=user)
    if options.output == "json":
        print_json(ended)
        return
    print_line(f"sessions ended: {ended['ended_count']}")
