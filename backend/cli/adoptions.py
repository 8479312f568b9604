"""The command `regent replica candidates`: brokers of lost groups, which can be adopted."""

from collections.abc import Mapping
from typing import Any

from backend.cli.clusters import Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import print_json, print_table, time_text
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options


def list_candidates(*, limit: Limit = 500, options: Options = Options()) -> None:
    """List brokers that wait for adoption because the control plane lost their group.

    Example:
        regent replica candidates

    Args:
        limit: Maximum number of brokers.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = list(client.list("/adoption-candidates", limit=limit))
    if options.output == "json":
        print_json(found)
        return
    print_candidates(found)


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


def print_candidates(found: list[dict[str, Any]]) -> None:
    """Print brokers that wait for adoption."""
    print_table(
        (
            "CLUSTER",
            "GROUP",
            "ID#",
            "ADDRESS",
            "CODE",
            "EPOCH#",
            "LOG END#",
            "MASTER",
            "LAST HEARD",
        ),
        [
            (
                item["cluster_name"],
                item["broker_group_name"],
                item["broker_id"],
                item["address"],
                "told" if item["has_code"] else None,
                item["epoch"],
                item["max_offset"],
                _master(item),
                time_text(item["heard_at"]),
            )
            for item in found
        ],
    )


def _master(candidate: Mapping[str, Any]) -> str | None:
    master_id = candidate["master_id"]
    if master_id is None:
        return None
    if master_id == candidate["broker_id"]:
        return "serves"
    return "none" if master_id == 0 else f"follows {master_id}"
