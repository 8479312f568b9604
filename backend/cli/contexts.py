"""The commands `regent context …`: named servers with their defaults."""

import sys
from dataclasses import replace
from typing import Annotated, Literal
from urllib.parse import urlsplit

from cyclopts import App, Parameter

from backend.cli.confirmation import Confirm, confirm_name
from backend.cli.context_file import (
    Context,
    Contexts,
    change_contexts,
    check_context_name,
    read_contexts,
)
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import UNKNOWN, choose_yaml, print_json, print_line, print_table
from backend.cli.reader import print_note
from backend.cli.target import Form, Options, choose_context, find_target

context = App(
    name=["context", "contexts"],
    help="Manage contexts: named servers, each with a token, a cluster and an output format.",
)

Output = Annotated[
    Literal["table", "json", "yaml", "name"] | None, Parameter(name=["--output", "-o"])
]


@context.command(name="list")
def list_contexts(*, output: Output = None) -> None:
    """List the contexts by name, and mark the context in use.

    Examples:
        regent context list
        regent context list -o name

    Args:
        output: Output format.
    """
    contexts = read_contexts()
    found = [one for _, one in sorted(contexts.by_name.items())]
    if output == "name":
        for one in found:
            print_line(one.name)
        return
    if output in {"json", "yaml"}:
        choose_yaml(is_chosen=output == "yaml")
        print_json([_as_json(one, contexts) for one in found])
        return
    print_table(
        ("", "NAME", "SERVER", "CREDENTIAL", "CLUSTER", "OUTPUT"),
        [
            (
                "*" if one.name == contexts.current else "",
                *(one.name, one.server, _credential(one), one.cluster, one.output),
            )
            for one in found
        ],
    )


@context.command(name="use")
def use_context(name: str, /) -> None:
    """Select the context that commands use if they name no server.

    Example:
        regent context use staging

    Args:
        name: Name of the context.
    """
    with change_contexts() as contexts:
        chosen = contexts.get(name)
        contexts.current = name
    print_line(f"context {name} is in use: {chosen.server}")


@context.command(name="show")
def show_context(name: str | None = None, /, *, options: Options = Options()) -> None:
    """Show a context, but not its token.

    Examples:
        regent context show
        regent context show staging -o json

    Args:
        name: Name of the context. Default: the context that commands use now.
        options: Which server, and how to print.
    """
    contexts = read_contexts()
    chosen = choose_context(options) if name is None else contexts.get(name)
    if chosen is None:
        raise CommandError(
            "no context is in use" if contexts.current is None else "no context is meant",
            why=f"commands speak to {find_target(options).server}",
            next_step="regent context use NAME, or regent login --server URL",
            exit_code=ExitCode.NOT_FOUND,
        )
    if options.output == "json":
        print_json(_as_json(chosen, contexts))
        return
    for key, value in _as_json(chosen, contexts).items():
        print_line(f"{key.replace('_', ' '):<12}{UNKNOWN if value is None else value}")


@context.command(name="set")
def set_context(
    name: str,
    /,
    *,
    server: str | None = None,
    cluster: str | None = None,
    form: Annotated[Form | None, Parameter(name=["--output", "-o"])] = None,
    token_stdin: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Create a context, or change the given values of an existing context.

    A new --server deletes the context's token, because the token is for the old server. `--cluster
    ""` deletes the context's cluster.

    Examples:
        regent context set staging --server https://staging.example.org --cluster staging-eu
        regent context set staging --cluster "" --output json
        regent context set ci --server https://regent.example.org --token-stdin < token.txt

    Args:
        name: Name of the context.
        server: Address of the control plane.
        cluster: Cluster of commands that name no cluster.
        form: Output format of commands that name no format.
        token_stdin: Read an API token for the server from standard input, and keep the token.
    """
    with change_contexts() as contexts:
        known = contexts.by_name.get(check_context_name(name))
        address = None if server is None else _checked(server)
        if known is None and address is None:
            raise CommandError(
                f"there is no context {name} yet",
                next_step=f"regent context set {name} --server URL",
                exit_code=ExitCode.USAGE,
            )
        changed = known or Context(name, address or "")
        if address is not None and address != changed.server:
            changed = replace(changed, server=address, token=None)
        if cluster is not None:
            changed = replace(changed, cluster=cluster or None)
        if form is not None:
            changed = replace(changed, output=form)
        if token_stdin:
            changed = replace(changed, token=_read_token())
        contexts.put(changed)
    print_line(f"context {name} is of {changed.server}")


@context.command(name="rename")
def rename_context(name: str, new_name: str, /) -> None:
    """Rename a context.

    Example:
        regent context rename regent.example.org prod

    Args:
        name: Name of the context.
        new_name: New name of the context.
    """
    with change_contexts() as contexts:
        found = contexts.get(name)
        if check_context_name(new_name) in contexts.by_name:
            raise CommandError(
                f"there is a context {new_name} already",
                next_step=f"choose another name, or: regent context delete {new_name}",
                exit_code=ExitCode.REFUSED,
            )
        del contexts.by_name[name]
        contexts.put(replace(found, name=new_name))
        if contexts.current == name:
            contexts.current = new_name
    print_line(f"context {name} is called {new_name}")


@context.command(name="delete")
def delete_context(name: str, /, *, confirm: Confirm = None) -> None:
    """Delete a context and its token.

    The session on the server stays open until it expires. To end the session, run `regent logout`
    before you delete the context.

    Examples:
        regent context delete staging
        regent logout --context staging && regent context delete staging --confirm staging

    Args:
        name: Name of the context.
        confirm: The context's name, so that the command does not ask for it.
    """
    found = read_contexts().get(name)
    confirm_name(name, confirm, what=f"The context of {found.server} will be forgotten.")
    with change_contexts() as contexts:
        found = contexts.get(name)
        del contexts.by_name[name]
        if contexts.current == name:
            contexts.current = None
    print_line(f"context {name} is forgotten")
    if found.token is not None:
        print_note(f"its credential is still good at {found.server}: end its session, or revoke it")


def _as_json(one: Context, contexts: Contexts) -> dict[str, object]:
    return {
        "name": one.name,
        "server": one.server,
        "is_in_use": one.name == contexts.current,
        "credential": _credential(one),
        "cluster": one.cluster,
        "output": one.output,
    }


def _credential(one: Context) -> str | None:
    """Return the kind of a stored credential, by the prefix that every token has."""
    if one.token is None:
        return None
    return "API token" if one.token.startswith("rgt_") else "session"


def _checked(server: str) -> str:
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise CommandError(
            f"{server!r} is no address of a control plane",
            next_step="give one such as https://regent.example.org:8080",
            exit_code=ExitCode.USAGE,
        )
    return server.rstrip("/")


def _read_token() -> str:
    token = sys.stdin.readline().strip()
    if not token:
        raise CommandError(
            "standard input holds no token", next_step="regent token create NAME --days 30"
        )
    return token
