"""The commands `regent controller …`: who leads what, and orders for who shall."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import Ordering, find_group_cluster, ids_text, order_change
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.rest import connect, segment
from backend.cli.target import Options

controller = App(
    name=["controller", "controllers"], help="Show and change who is master of broker groups."
)

BrokerId = Annotated[int, Parameter(validator=validators.Number(gte=1))]


@controller.command(name="status")
def show_status(*, options: Options = Options()) -> None:
    """Show the controllers: each leads, since each may carry out every request.

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
    """Show masters, epochs and sync-state sets, and who would win an election now.

    Examples:
        regent controller sync-state
        regent controller sync-state broker-a

    Args:
        group: Name of one broker group; all of the cluster when left out.
        cluster: Name of the cluster; not needed when there is only one.
        limit: How many at most.
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


@controller.command(name="elect")
def elect_master(
    group: str,
    /,
    *,
    broker: BrokerId | None = None,
    now: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Elect a master: the broker named, or whom the rules choose when the present one is dead.

    Shows who would win and why not the others, asks, and shows what was read back. Refused when
    another master was elected meanwhile. A replica that lacks confirmed messages is only elected
    with --accept-loss; the plan says how much is lost.

    Examples:
        regent controller elect broker-a --broker 2 --dry-run
        regent controller elect broker-a --broker 2
        regent controller elect broker-a --broker 2 --yes --reason "planned work"
        regent controller elect broker-a --broker 2 --accept-loss --dry-run

    Args:
        group: Name of the broker group.
        broker: Id of the broker that shall be master.
        now: Do not ask the present master to hand over first.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            "cluster_name": find_group_cluster(client, cluster, group),
            "group_name": group,
            "broker_id": broker,
            "mode": "now" if now else "graceful",
            **({"accepts_loss": True} if ordering.accept_loss else {}),
        }
        is_json = options.output == "json"
        order_change(client, "elect_master", parameters, ordering, is_json=is_json)


@controller.command(name="prefer")
def prefer_master(
    group: str,
    /,
    *,
    broker: BrokerId | None = None,
    nobody: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Prefer a replica as master; it acts at the next election and causes none.

    Among members of the sync-state set whose logs are equal the preferred one wins, before any
    priority. One that lacks messages never wins by it, and a living master stays: to have another
    one now, elect it.

    Examples:
        regent controller prefer broker-a --broker 2
        regent controller prefer broker-a --nobody

    Args:
        group: Name of the broker group.
        broker: Id of the replica to prefer.
        nobody: Prefer none any more.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    if (broker is None) != nobody:
        raise CommandError(
            "one of --broker and --nobody is needed",
            next_step="regent controller prefer GROUP --broker ID",
            exit_code=ExitCode.USAGE,
        )
    with connect(options) as client:
        parameters = {
            "cluster_name": find_group_cluster(client, cluster, group),
            "group_name": group,
            "broker_id": broker,
        }
        is_json = options.output == "json"
        order_change(client, "prefer_master", parameters, ordering, is_json=is_json)


@controller.command(name="forget")
def forget_replicas(
    group: str,
    /,
    *,
    broker: Annotated[list[BrokerId] | None, Parameter(negative="")] = None,
    living: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Forget replicas that will not come back, or a whole group; ids are never given away again.

    A living replica is forgotten only with its whole group. What was acknowledged and is held by
    nobody else is lost with them. It begins ten seconds after it was confirmed, and can be
    cancelled until then.

    Examples:
        regent controller forget broker-a --broker 3 --dry-run
        regent controller forget broker-a --broker 2 --broker 3
        regent controller forget broker-a --living

    Args:
        group: Name of the broker group.
        broker: Id of a replica to forget, more than once if need be; without, the whole group.
        living: Forget the whole group although replicas of it are alive.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            "cluster_name": find_group_cluster(client, cluster, group),
            "group_name": group,
            "broker_ids": broker or [],
            "includes_living": living,
        }
        is_json = options.output == "json"
        order_change(client, "forget_replicas", parameters, ordering, is_json=is_json)


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
        "nobody" if election["winner_id"] is None else election["winner_id"],
    )
