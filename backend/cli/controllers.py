"""The commands `regent controller status` and `sync-state`: who leads what."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.orders import ids_text
from backend.cli.output import print_json, print_line, print_table, time_text
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
    with connect(options) as client:
        found = client.get("/controllers")
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("ADDRESS", "LEADS", "LEASE POLICY", "UNCLEAN ELECTION", "GROUPS#", "WITHOUT MASTER#"),
        [
            (
                item["address"],
                "yes" if item["is_leader"] else "no",
                item["lease_policy"],
                "allowed" if item["allows_unclean_election"] else "refused",
                item["group_count"],
                item["masterless_group_count"],
            )
            for item in found
        ],
    )
    print_table(
        ("PROCESS", "HEARS REPLICAS#", "LAST"),
        [
            (
                f"{peer['id']}{' (this one)' if peer['is_self'] else ''}",
                peer["heard_replica_count"],
                time_text(peer["last_heard_at"]),
            )
            for item in found
            for peer in item["peers"]
        ],
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
        root = f"/clusters/{segment(choose_cluster(client, cluster))}/replica-groups"
        names = [group] if group else [g["name"] for g in client.list(root, limit=limit)]
        found = [client.get(f"{root}/{segment(name)}") for name in names]
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("GROUP", "MASTER", "ALIVE", "EPOCH#", "SET", "SET EPOCH#", "OUTSIDE", "WOULD WIN"),
        [_row(item) for item in found],
    )
    for item in found:
        if item["health"] is not None and item["health"]["verdict"] != "healthy":
            print_line(f"\n{item['health']['verdict']}: {item['health']['sentence']}")
        warning = item["election"]["warning"]
        if warning is not None and not item["election"]["is_unchanged"]:
            print_line(f"\nwarning of the next election: {warning}")


def _row(group: Mapping[str, Any]) -> tuple[object, ...]:
    election, members = group["election"], group["sync_state_set"]
    outside = [r["broker_id"] for r in group["replicas"] if not r["is_in_sync"]]
    return (
        group["name"],
        "none" if group["master_id"] is None else group["master_id"],
        "yes" if group["is_master_alive"] else "no",
        group["master_epoch"],
        ids_text(members),
        group["sync_state_set_epoch"],
        ids_text(outside),
        "none" if election["winner_id"] is None else election["winner_id"],
    )
