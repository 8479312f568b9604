"""The commands `regent controller peers` and `config`: the controllers and their settings.

Election settings are set for each process at its start; no command changes them (D26).
"""

from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, cluster_path
from backend.cli.output import print_items, print_json, print_line, time_text, yes_no
from backend.cli.paging import ask, show_items
from backend.cli.rest import connect
from backend.cli.target import Options

config = App(
    name="config",
    help="Show the settings for elections and operations, which come from environment variables.",
)


def register(controller: App) -> None:
    """Add the commands to those of controllers."""
    controller.command(show_peers, name="peers")
    controller.command(config)


def show_peers(*, options: Options = Options()) -> None:
    """List the processes of the control plane; each process is a complete controller.

    Examples:
        regent controller peers
        regent controller peers -o json
    """
    peers = [peer for item in ask(options, "/controllers") for peer in item["peers"]]
    if options.output == "json":
        print_json(peers)
        return
    print_items(
        {
            "PROCESS": "id",
            "ANSWERS HERE": ("is_self", yes_no),
            "HEARS REPLICAS#": "heard_replica_count",
            "LAST": ("last_heard_at", time_text),
        },
        peers,
    )
    if not peers:
        print_line("No process hears any replica: no broker runs under a controller.")


@config.command(name="get")
def get_settings(*, options: Options = Options()) -> None:
    """Show the settings of the process that answers, and the environment variable of each setting.

    Examples:
        regent controller config get
        regent controller config get -o json
    """
    show_items(
        options,
        _settings(ask(options, "/controllers")),
        {
            "SETTING": "name",
            "VALUE": "value",
            "DEFAULT": "default",
            "SET BY": "variable",
            "ROCKETMQ NAME": "stock_name",
            "MEANING": "description",
        },
    )


@config.command(name="diff")
def compare_settings(
    *,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List broker groups whose lease policy is not the policy of new broker groups.

    A broker group keeps its first lease policy.

    Examples:
        regent controller config diff
        regent controller config diff --cluster DefaultCluster -o json

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of broker groups to check.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        set_now = {item["name"]: item["value"] for item in _settings(client.get("/controllers"))}
        root = cluster_path(client, cluster, "replica-groups")
        groups = list(client.list(root, limit=limit))
    differing = [
        {"group": one["name"], "lease_policy": one["lease_policy"], "set": set_now["lease_policy"]}
        for one in groups
        if one["lease_policy"] != set_now["lease_policy"]
    ]
    if options.output == "json":
        print_json(differing)
        return
    if not differing:
        print_line(f"All {len(groups)} groups go by the lease policy {set_now['lease_policy']}.")
        return
    print_items(
        {"BROKER GROUP": "group", "ITS LEASE POLICY": "lease_policy", "THAT OF NEW GROUPS": "set"},
        differing,
    )


def _settings(controllers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [setting for item in controllers for setting in item["settings"]]
