"""The commands `regent replica candidates` and `adopt`: take brokers of lost groups in again."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter

from backend.cli.clusters import ClusterName, Limit
from backend.cli.controllers import BrokerId
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import Ordering, order_change, show_target
from backend.cli.output import print_json, print_table, time_text
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options


def register(replica: App) -> None:
    """Add the commands to those about replicas."""
    replica.command(list_candidates, name="candidates")
    replica.command(adopt_replicas, name="adopt")


def list_candidates(*, limit: Limit = 500, options: Options = Options()) -> None:
    """List brokers whose group the control plane lost, and which wait to be adopted.

    Example:
        regent replica candidates

    Args:
        limit: How many at most.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = list(client.list("/adoption-candidates", limit=limit))
    if options.output == "json":
        print_json(found)
        return
    _print_candidates(found)


def adopt_replicas(
    group: str,
    /,
    *,
    broker: Annotated[list[BrokerId] | None, Parameter(negative="")] = None,
    master: BrokerId | None = None,
    least_epoch: int | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Take brokers in again whose group the control plane lost, under the ids they hold.

    Start all brokers of the group first: the master will be the one that serves, else the one
    with the longest log of the newest epoch. When one is missing, acknowledged messages may be
    lost, and that must be accepted.

    Examples:
        regent replica candidates
        regent replica adopt broker-a --dry-run
        regent replica adopt broker-a
        regent replica adopt broker-a --broker 1 --broker 2 --master 2 --accept-loss

    Args:
        group: Name of the broker group.
        broker: Id of a broker to adopt, more than once if need be; without, all that wait.
        master: Id of the one that shall be master.
        least_epoch: Newest epoch in the logs of those who told none.
        cluster: Name of the cluster; not needed when the brokers that wait are of one only.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    is_json = options.output == "json"
    with connect(options) as client:
        waiting = _find_waiting(client, cluster, group)
        name = str(waiting[0]["cluster_name"])
        show_target(client, name, group)
        if not is_json:
            _print_candidates(waiting)
        parameters = {
            "cluster_name": name,
            "group_name": group,
            "broker_ids": broker or [item["broker_id"] for item in waiting],
            "master_id": master,
            "least_epoch": least_epoch,
            "accepts_loss": ordering.accept_loss,
        }
        order_change(client, "adopt_replicas", parameters, ordering, is_json=is_json)


def _find_waiting(client: RestClient, cluster: str | None, group: str) -> list[dict[str, Any]]:
    found = [
        item
        for item in client.list("/adoption-candidates", limit=100_000)
        if item["group_name"] == group and cluster in (None, item["cluster_name"])
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


def _print_candidates(found: list[dict[str, Any]]) -> None:
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
                item["group_name"],
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
