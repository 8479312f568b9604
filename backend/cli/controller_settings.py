"""The commands `regent controller peers` and `config`: who are the controllers, how are they set.

What decides elections is set for each process when it starts; no command changes it (D26).
"""

from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.rest import connect, segment
from backend.cli.target import Options

config = App(
    name="config",
    help="Show the settings for elections and operations, which come from environment variables.",
)


def register(controller: App) -> None:
    """Add the commands to those about controllers."""
    controller.command(show_peers, name="peers")
    controller.command(config)


def show_peers(*, options: Options = Options()) -> None:
    """List the processes of the control plane; each process is a complete controller.

    Examples:
        regent controller peers
        regent controller peers -o json
    """
    with connect(options) as client:
        peers = [peer for item in client.get("/controllers") for peer in item["peers"]]
    if options.output == "json":
        print_json(peers)
        return
    print_table(
        ("PROCESS", "ANSWERS HERE", "HEARS REPLICAS#", "LAST"),
        [
            (
                peer["id"],
                "yes" if peer["is_self"] else "no",
                peer["heard_replica_count"],
                time_text(peer["last_heard_at"]),
            )
            for peer in peers
        ],
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
    with connect(options) as client:
        found = _settings(client.get("/controllers"))
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("SETTING", "VALUE", "DEFAULT", "SET BY", "ROCKETMQ NAME", "MEANING"),
        [
            (
                item["name"],
                item["value"],
                item["default"],
                item["variable"],
                item["stock_name"],
                item["description"],
            )
            for item in found
        ],
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
        root = f"/clusters/{segment(choose_cluster(client, cluster))}/replica-groups"
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
    print_table(
        ("GROUP", "ITS LEASE POLICY", "THAT OF NEW GROUPS"),
        [(one["group"], one["lease_policy"], one["set"]) for one in differing],
    )


def _settings(controllers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [setting for item in controllers for setting in item["settings"]]
