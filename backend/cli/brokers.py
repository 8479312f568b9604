"""The commands `regent broker …`."""

from typing import Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.output import Columns, time_text, yes_no
from backend.cli.paging import ask, show_items, show_list
from backend.cli.target import Options

broker = App(name=["broker", "brokers"], help="Show and change brokers.")

COLUMNS: Final[Columns] = {
    "NAME": "name",
    "BROKER GROUP": "broker_group_name",
    "ROLE": "role",
    "STATE": "state",
    "ADDRESS": "address",
    "PROTECTED": ("protection", yes_no),
    "LAST HEARTBEAT": ("last_heartbeat_at", time_text),
}


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
    show_list(options, in_cluster(cluster, "brokers"), COLUMNS, limit=limit)


@broker.command(name="get")
def get_broker(
    broker_name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show one broker by its name: its group and its id, which elections do not change.

    Example:
        regent broker get broker-a-2

    Args:
        broker_name: Name of the broker, as `regent broker list` shows it.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    show_items(options, ask(options, in_cluster(cluster, "brokers", broker_name)), COLUMNS)
