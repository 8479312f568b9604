"""The commands `regent replica …`: who holds what, and what happened."""

from collections.abc import Mapping
from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, choose_cluster, group_path
from backend.cli.orders import ids_text, print_election
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.rest import connect, segment
from backend.cli.target import Options

replica = App(
    name=["replica", "replicas"],
    help="Show replicas, and adopt replicas whose group the control plane lost.",
)

_REPLICA_COLUMNS = (
    "ID#",
    "ADDRESS",
    "ROLE",
    "ALIVE",
    "IN SET",
    "EPOCH#",
    "LOG END#",
    "CONFIRMED#",
    "LAST HEARTBEAT",
)


@replica.command(name="list")
def list_replicas(
    *,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the replicas of a cluster's broker groups; `-` means that the value is unknown.

    Examples:
        regent replica list
        regent replica list --cluster DefaultCluster -o json

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of consumer groups.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        root = f"/clusters/{segment(choose_cluster(client, cluster))}/replica-groups"
        found = list(client.list(root, limit=limit))
    if options.output == "json":
        print_json(found)
        return
    rows = [(group["name"], *_row(one)) for group in found for one in group["replicas"]]
    print_table(("GROUP", *_REPLICA_COLUMNS), rows)


@replica.command(name="get")
def get_group(
    group: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show one broker group: its replicas, and which replica would win an election now and why.

    Examples:
        regent replica get broker-a
        regent replica get broker-a -o json

    Args:
        group: Name of the broker group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get(group_path(client, cluster, group))
    if options.output == "json":
        print_json(found)
        return
    master = "none" if found["master_id"] is None else found["master_id"]
    print_line(
        f"Group {found['name']} of {found['cluster_name']}: master {master} in epoch "
        f"{found['master_epoch']}, sync-state set {ids_text(found['sync_state_set'])} "
        f"(epoch {found['sync_state_set_epoch']}{_dead_text(found)}), "
        f"lease policy {found['lease_policy']}, preferred {found['preferred_id'] or 'none'}"
    )
    if (position := found.get("confirmed_position")) is not None:
        print_line(f"Confirmed up to log position {position} of epoch {found['confirmed_epoch']}")
    print_table(_REPLICA_COLUMNS, [_row(one) for one in found["replicas"]])
    print_line("")
    print_election(found["election"])


@replica.command(name="epochs")
def show_epochs(
    group: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show and compare the epochs of each replica's commit log, as the replicas report them.

    Examples:
        regent replica epochs broker-a
        regent replica epochs broker-a -o json

    Args:
        group: Name of the broker group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get(f"{group_path(client, cluster, group)}/epochs")
    if options.output == "json":
        print_json(found)
        return
    rows = [
        (one["broker_id"], span["epoch"], span["start_offset"], _end(span, one))
        for one in found["replicas"]
        for span in one["epochs"] or ()
    ]
    print_table(("ID#", "EPOCH#", "START#", "END#"), rows)
    for one in found["replicas"]:
        if one["error"]:
            print_line(f"Broker {one['broker_id']} is not known: {one['error']}")
    if found["differing_epoch"] is None:
        print_line("No two of these logs differ in where an epoch began.")
    else:
        print_line(f"Epoch {found['differing_epoch']} began at different places: look at the logs.")


@replica.command(name="history")
def show_history(
    group: str,
    /,
    *,
    cluster: ClusterName = None,
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """Show the history of a broker group, the newest change first, even of a deleted group.

    Examples:
        regent replica history broker-a
        regent replica history broker-a --limit 1000 -o json

    Args:
        group: Name of the broker group.
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of changes.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        path = f"{group_path(client, cluster, group)}/changes"
        found = list(client.list(path, limit=limit))
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("WHEN", "WHAT", "MASTER", "EPOCH#", "SET", "SET EPOCH#", "CAUSE"),
        [
            (
                time_text(item["changed_at"]),
                item["kind"],
                "none" if item["master_id"] is None else item["master_id"],
                item["master_epoch"],
                ids_text(item["sync_state_set"]),
                item["sync_state_set_epoch"],
                item["cause"] if item["warning"] is None else f"{item['cause']}; {item['warning']}",
            )
            for item in found
        ],
    )


def _end(span: Mapping[str, Any], lag: Mapping[str, Any]) -> object:
    return lag["max_offset"] if span["end_offset"] is None else span["end_offset"]


def _dead_text(group: Mapping[str, Any]) -> str:
    """Say how many of a set are alive, unless all are: a dead member keeps nothing in sync."""
    members = [one for one in group["replicas"] if one["is_in_sync"]]
    alive_count = sum(one["is_alive"] for one in members)
    if alive_count == len(members):
        return ""
    return f", {alive_count or 'none'} of {len(members)} alive"


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        one["broker_id"],
        one["address"],
        "master" if one["is_master"] else "replica",
        "yes" if one["is_alive"] else "no",
        "yes" if one["is_in_sync"] else "no",
        one["epoch"],
        one["max_offset"],
        one["confirm_offset"],
        time_text(one["last_heartbeat_at"]),
    )
