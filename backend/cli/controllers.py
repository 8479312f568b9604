"""The commands `regent controller status` and `sync-state`: masters, epochs and sets."""

from typing import Annotated, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, cluster_path
from backend.cli.orders import id_text, ids_text
from backend.cli.output import (
    Columns,
    Item,
    print_items,
    print_json,
    print_line,
    time_text,
    yes_no,
)
from backend.cli.paging import ask
from backend.cli.rest import connect, segment
from backend.cli.target import Options

controller = App(
    name=["controller", "controllers"], help="Show and change the masters of broker groups."
)

BrokerIdOption = Annotated[int, Parameter(validator=validators.Number(gte=1))]


@controller.command(name="status")
def show_status(*, options: Options = Options()) -> None:
    """Show the controllers; each controller is a leader, because it can carry out every request.

    Examples:
        regent controller status
        regent controller status -o json
    """
    found = ask(options, "/controllers")
    if options.output == "json":
        print_json(found)
        return
    print_items(
        {
            "ADDRESS": "address",
            "LEADS": ("is_leader", yes_no),
            "LEASE POLICY": "lease_policy",
            "UNCLEAN ELECTION": lambda one: (
                "allowed" if one["allows_unclean_election"] else "refused"
            ),
            "GROUPS#": "group_count",
            "WITHOUT MASTER#": "masterless_group_count",
        },
        found,
    )
    print_items(
        {
            "PROCESS": lambda peer: f"{peer['id']}{' (this one)' if peer['is_self'] else ''}",
            "HEARS REPLICAS#": "heard_replica_count",
            "LAST": ("last_heard_at", time_text),
        },
        [peer for one in found for peer in one["peers"]],
        title="\nProcesses of the control plane that hear replicas",
    )


@controller.command(name="sync-state")
def show_sync_state(
    group: str | None = None,
    /,
    *,
    cluster: ClusterName = None,
    limit: Limit = 100,
    options: Options = Options(),
) -> None:
    """Show masters, epochs and SyncStateSets, and the broker that would win an election now.

    Examples:
        regent controller sync-state
        regent controller sync-state broker-a

    Args:
        group: Name of one broker group. Default: all broker groups of the cluster.
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of broker groups.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        root = cluster_path(client, cluster, "replica-groups")
        names = [group] if group else [g["name"] for g in client.list(root, limit=limit)]
        found = [client.get(f"{root}/{segment(name)}") for name in names]
    if options.output == "json":
        print_json(found)
        return
    print_items(SYNC_STATE_COLUMNS, found)
    for item in found:
        if item["health"] is not None and item["health"]["verdict"] != "healthy":
            print_line(f"\n{item['health']['verdict']}: {item['health']['sentence']}")
        warning = item["election"]["warning"]
        if warning is not None and not item["election"]["is_unchanged"]:
            print_line(f"\nwarning of the next election: {warning}")


def _outside(group: Item) -> str:
    return ids_text([one["broker_id"] for one in group["replicas"] if not one["is_in_sync"]])


SYNC_STATE_COLUMNS: Final[Columns] = {
    "BROKER GROUP": "name",
    "MASTER": ("master_id", id_text),
    "ALIVE": ("is_master_alive", yes_no),
    "EPOCH#": "master_epoch",
    "SET": ("sync_state_set", ids_text),
    "SET EPOCH#": "sync_state_set_epoch",
    "OUTSIDE": _outside,
    "WOULD WIN": lambda group: id_text(group["election"]["winner_id"]),
}
