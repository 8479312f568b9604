"""The commands `regent broker …`."""

from cyclopts import App

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
    """List a cluster's brokers by group and id.

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
    print_table(
        ("GROUP", "ID#", "ROLE", "STATE", "ADDRESS", "PROTECTED", "LAST HEARTBEAT"),
        [
            (
                item["group_name"],
                item["broker_id"],
                item["role"],
                item["state"],
                item["address"],
                yes_or_no(item["protection"]),
                time_text(item["last_heartbeat_at"]),
            )
            for item in found
        ],
    )
