"""The commands `regent token …`: credentials for programs."""

from typing import Annotated

from cyclopts import App, Parameter, validators

from backend.cli.clusters import Limit
from backend.cli.output import joined, print_json, print_line, time_text
from backend.cli.paging import show_list
from backend.cli.reader import print_note
from backend.cli.rest import connect, segment
from backend.cli.target import Options
from backend.cli.users import Patterns, RoleName
from backend.domain.user import Role

token = App(name=["token", "tokens"], help="Create, list and revoke API tokens for programs.")

Days = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=366))]


@token.command(name="create")
def create_token(
    name: str,
    /,
    *,
    days: Days,
    role: RoleName = Role.VIEWER,
    cluster: Patterns = None,
    read_only: Annotated[bool, Parameter(negative="")] = False,
    options: Options = Options(),
) -> None:
    """Create an API token with your rights, and print the token only once.

    Programs send the token as `Authorization: Bearer TOKEN`; regent reads the token from
    REGENT_TOKEN.

    Examples:
        regent token create dashboard --days 90
        regent token create deploy --days 30 --role operator --cluster "staging-*"

    Args:
        name: Name of the token.
        days: Number of days until the token expires.
        role: Role of the token. The token never has more rights than you have.
        cluster: Only for clusters of this name; `*` matches any characters. Repeatable.
        read_only: Do not allow changes, regardless of the role.
        options: Which server, and how to print.
    """
    wanted = {
        "name": name,
        "role": role,
        "lifetime_days": days,
        "cluster_patterns": cluster or ["*"],
        "is_read_only": read_only,
    }
    with connect(options) as client:
        created = client.post("/tokens", wanted)
    if options.output == "json":
        print_json(created)
        return
    print_line(created["secret"])
    print_note(
        f"token {name} ({created['id']}), shown this once; works until "
        f"{time_text(created['expires_at'])}"
    )


@token.command(name="list")
def list_tokens(
    *,
    user: str | None = None,
    limit: Limit = 100,
    options: Options = Options(),
) -> None:
    """List API tokens, the newest first: your tokens or, for administrators, all tokens.

    Examples:
        regent token list
        regent token list --user anna

    Args:
        user: Only tokens of this user.
        limit: Maximum number of tokens.
        options: Which server, and how to print.
    """
    show_list(
        options,
        "/tokens",
        {
            "ID": "id",
            "NAME": "name",
            "USER": "user_name",
            "BEGINS": lambda one: f"{one['prefix']}…",
            "ROLE": lambda one: f"{one['role']}{', read-only' if one['is_read_only'] else ''}",
            "CLUSTERS": ("cluster_patterns", joined),
            "EXPIRES": ("expires_at", time_text),
            "LAST USED": ("last_used_at", time_text),
            "FROM": "last_used_from",
        },
        limit=limit,
        user_name=user,
    )


@token.command(name="revoke")
def revoke_token(token_id: str, /, *, options: Options = Options()) -> None:
    """Revoke an API token: your token or, for administrators, any token.

    Example:
        regent token revoke 0f8e4c1a-3b52-4a7e-8d11-6f0a2c9b7e54

    Args:
        token_id: Id of the token, as `regent token list` shows it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        client.delete(f"/tokens/{segment(token_id)}")
    print_line(f"token {token_id} is revoked")
