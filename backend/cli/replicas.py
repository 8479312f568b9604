"""The commands `regent replica …`: replicas, epochs and history of broker groups."""

from collections.abc import Mapping
from typing import Any, Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.orders import id_text, ids_text, print_election
from backend.cli.output import (
    Columns,
    Item,
    print_items,
    print_json,
    print_line,
    print_table,
    time_text,
    yes_no,
)
from backend.cli.paging import ask, show_list
from backend.cli.target import Options

replica = App(
    name=["replica", "replicas"],
    help="Show replicas, and adopt replicas whose group the control plane lost.",
)


def role_text(replica: Item) -> str:
    """Write the role of a replica."""
    return "master" if replica["is_master"] else "replica"


REPLICA_COLUMNS: Final[Columns] = {
    "ID#": "broker_id",
    "ADDRESS": "address",
    "ROLE": role_text,
    "ALIVE": ("is_alive", yes_no),
    "IN SET": ("is_in_sync", yes_no),
    "EPOCH#": "epoch",
    "LOG END#": "max_offset",
    "CONFIRMED#": "confirm_offset",
    "VERSION#": "protocol_version",
    "LAST HEARTBEAT": ("last_heartbeat_at", time_text),
}


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
        limit: Maximum number of broker groups.
        options: Which server, and how to print.
    """
    show_list(
        options,
        in_cluster(cluster, "replica-groups"),
        {"BROKER GROUP": "broker_group_name", **REPLICA_COLUMNS},
        limit=limit,
        rows=lambda group: (
            {"broker_group_name": group["name"], **one} for one in group["replicas"]
        ),
    )


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
    found = ask(options, in_cluster(cluster, "replica-groups", group))
    if options.output == "json":
        print_json(found)
        return
    print_line(
        f"Group {found['name']} of {found['cluster_name']}: "
        f"master {id_text(found['master_id'])} in epoch "
        f"{found['master_epoch']}, sync-state set {ids_text(found['sync_state_set'])} "
        f"(epoch {found['sync_state_set_epoch']}{_dead_text(found)}), "
        f"lease policy {found['lease_policy']}, preferred {found['preferred_id'] or 'none'}"
    )
    limit = found["version_limit"]
    limited = "" if limit is None else f", limited to {limit} until an upgrade"
    print_line(f"Protocol version {found['protocol_version']}{limited}")
    if (position := found.get("confirmed_position")) is not None:
        print_line(f"Confirmed up to log position {position} of epoch {found['confirmed_epoch']}")
    print_items(REPLICA_COLUMNS, found["replicas"])
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
    found = ask(options, in_cluster(cluster, "replica-groups", group, "epochs"))
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
    show_list(
        options,
        in_cluster(cluster, "replica-groups", group, "changes"),
        {
            "WHEN": ("changed_at", time_text),
            "WHAT": "kind",
            "MASTER": ("master_id", id_text),
            "EPOCH#": "master_epoch",
            "SET": ("sync_state_set", ids_text),
            "SET EPOCH#": "sync_state_set_epoch",
            "CAUSE": _cause,
        },
        limit=limit,
    )


def _cause(change: Item) -> str:
    warning = change["warning"]
    return str(change["cause"]) if warning is None else f"{change['cause']}; {warning}"


def _end(span: Mapping[str, Any], lag: Mapping[str, Any]) -> object:
    return lag["max_offset"] if span["end_offset"] is None else span["end_offset"]


def _dead_text(group: Mapping[str, Any]) -> str:
    """Write how many members of a set are alive, unless all are."""
    members = [one for one in group["replicas"] if one["is_in_sync"]]
    alive_count = sum(one["is_alive"] for one in members)
    if alive_count == len(members):
        return ""
    return f", {alive_count or 'none'} of {len(members)} alive"
