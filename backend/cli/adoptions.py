"""The command `regent replica candidates`: brokers of lost groups, which can be adopted."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.clusters import Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import Columns, time_text, yes_no
from backend.cli.paging import show_list
from backend.cli.rest import RestClient
from backend.cli.target import Options


def list_candidates(*, limit: Limit = 500, options: Options = Options()) -> None:
    """List brokers that wait for adoption because the control plane lost their group.

    Example:
        regent replica candidates

    Args:
        limit: Maximum number of brokers.
        options: Which server, and how to print.
    """
    show_list(options, "/adoption-candidates", CANDIDATE_COLUMNS, limit=limit)


def find_waiting(client: RestClient, cluster: str | None, group: str) -> list[dict[str, Any]]:
    """Return the brokers of a group that wait for adoption.

    Raises:
        CommandError: none waits, or such a group is in several clusters.
    """
    found = [
        item
        for item in client.list("/adoption-candidates", limit=100_000)
        if item["broker_group_name"] == group and cluster in (None, item["cluster_name"])
    ]
    clusters = sorted({item["cluster_name"] for item in found})
    if not found:
        raise CommandError(
            f"no broker of group {group} waits for adoption",
            why="brokers whose group is not known say so every second while they run",
            next_step="regent replica candidates",
            exit_code=ExitCode.NOT_FOUND,
        )
    if len(clusters) > 1:
        raise CommandError(
            "which cluster?",
            why=f"brokers of such a group wait in several: {', '.join(clusters)}",
            next_step=f"add --cluster {clusters[0]}",
            exit_code=ExitCode.USAGE,
        )
    return found


def _master(candidate: Mapping[str, Any]) -> str | None:
    master_id = candidate["master_id"]
    if master_id is None:
        return None
    if master_id == candidate["broker_id"]:
        return "serves"
    return "none" if master_id == 0 else f"follows {master_id}"


CANDIDATE_COLUMNS: Final[Columns] = {
    "CLUSTER": "cluster_name",
    "BROKER GROUP": "broker_group_name",
    "ID#": "broker_id",
    "ADDRESS": "address",
    "CODE": ("has_code", yes_no),
    "EPOCH#": "epoch",
    "LOG END#": "max_offset",
    "MASTER": _master,
    "LAST HEARD": ("heard_at", time_text),
}
