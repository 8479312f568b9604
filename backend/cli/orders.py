"""Name the group an order is for, have it confirmed, and show what it changed."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any, Final

from cyclopts import Parameter

from backend.cli.clusters import choose_cluster
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import UNKNOWN, print_line, print_note, print_table
from backend.cli.rest import RestClient, segment

Yes = Annotated[bool, Parameter(name=["--yes", "-y"], negative="")]
DryRun = Annotated[bool, Parameter(name="--dry-run", negative="")]
_FACTS: Final = (
    ("master", "master_id"),
    ("master epoch", "master_epoch"),
    ("sync-state set", "sync_state_set"),
    ("set epoch", "sync_state_set_epoch"),
    ("replicas", "replicas"),
)


def group_path(client: RestClient, cluster: str | None, group: str) -> str:
    """Return the path of a group under a controller."""
    name = choose_cluster(client, cluster)
    return f"/clusters/{segment(name)}/replica-groups/{segment(group)}"


def show_target(client: RestClient, path: str) -> None:
    """Say what is about to be changed, and where, before anything else."""
    _, _, cluster, _, group = path.split("/")
    print_note(f"target: group {group} of cluster {cluster} at {client.target.server}")


def confirm(name: str, *, yes: bool) -> None:
    """Return when whoever runs the command agrees.

    Raises:
        CommandError: they do not, or nobody is there to be asked.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(
            "this must be confirmed",
            why="standard input is not a terminal",
            next_step="look at it with --dry-run, then add --yes",
            exit_code=ExitCode.REFUSED,
        )
    print_note(f"Type {name} to go on:")
    if sys.stdin.readline().strip() != name:
        raise CommandError("not confirmed; nothing was changed", exit_code=ExitCode.REFUSED)


def print_election(election: Mapping[str, Any]) -> None:
    """Print who would win, and why not the others."""
    winner = election["winner_id"]
    if winner is None:
        print_line("Nobody could become master now:")
    elif election["is_unchanged"]:
        print_line(f"Broker {winner} is master and would stay so:")
    else:
        print_line(f"Broker {winner} would become master:")
    if election["awaits_lease_ms"]:
        print_line(f"  after {election['awaits_lease_ms']} ms, when the present lease has run out")
    print_table(
        ("ID#", "VERDICT", "REASON"),
        [(one["broker_id"], one["verdict"], one["reason"]) for one in election["candidates"]],
    )


def print_difference(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> None:
    """Print a group's facts before and after an order; no group is one that is gone."""
    print_table(
        ("", "BEFORE", "AFTER"),
        [(title, _fact(before, key), _fact(after, key)) for title, key in _FACTS],
    )


def ids_text(ids: list[int]) -> str:
    """Write ids; none are told apart from unknown ones."""
    return ", ".join(str(i) for i in ids) or "none"


def _fact(group: Mapping[str, Any] | None, key: str) -> str:
    if group is None:
        return UNKNOWN
    value = group[key]
    if key == "replicas":
        return ids_text([replica["broker_id"] for replica in value])
    if isinstance(value, list):
        return ids_text(value)
    return "none" if value is None else str(value)
