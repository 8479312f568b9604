"""The commands `regent broker …`."""

from collections.abc import Iterable, Mapping
from typing import Any

from cyclopts import App

from backend.cli.broker_names import broker_path
from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import print_json, print_table, time_text
from backend.cli.protections import yes_or_no
from backend.cli.rest import connect, segment
from backend.cli.target import Options

broker = App(name=["broker", "brokers"], help="Show and change brokers.")


@broker.command(name="list")
def list_brokers(
    *,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List a cluster's brokers by name.

    Examples:
        regent broker list
        regent broker list --cluster DefaultCluster -o json

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of brokers.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        name = choose_cluster(client, cluster)
        found = list(client.list(f"/clusters/{segment(name)}/brokers", limit=limit))
    if options.output == "json":
        print_json(found)
        return
    _print(found)


@broker.command(name="get")
def get_broker(
    broker_name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show one broker by its name: its group and its id, which no change of masters moves.

    Example:
        regent broker get broker-a-2

    Args:
        broker_name: Name of the broker, as `regent broker list` shows it.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get(broker_path(choose_cluster(client, cluster), broker_name))
    if options.output == "json":
        print_json(found)
        return
    _print([found])


def _print(brokers: Iterable[Mapping[str, Any]]) -> None:
    print_table(
        ("NAME", "GROUP", "ROLE", "STATE", "ADDRESS", "PROTECTED", "LAST HEARTBEAT"),
        [
            (
                item["name"],
                item["broker_group_name"],
                item["role"],
                item["state"],
                item["address"],
                yes_or_no(item["protection"]),
                time_text(item["last_heartbeat_at"]),
            )
            for item in brokers
        ],
    )
