"""The commands `regent controller …`: who leads what, and orders for who shall."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.orders import (
    DryRun,
    Yes,
    confirm,
    group_path,
    ids_text,
    print_difference,
    print_election,
    show_target,
)
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.rest import connect, segment
from backend.cli.target import Options

controller = App(
    name=["controller", "controllers"], help="Show and change who is master of broker groups."
)

BrokerId = Annotated[int, Parameter(validator=validators.Number(gte=1))]


@controller.command(name="status")
def show_status(*, options: Options = Options()) -> None:  # noqa: B008
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
    options: Options = Options(),  # noqa: B008
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


@controller.command(name="elect")
def elect_master(
    group: str,
    /,
    *,
    broker: BrokerId | None = None,
    cluster: ClusterName = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    options: Options = Options(),  # noqa: B008
) -> None:
    """Elect a master: the broker named, or whom the rules choose when the present one is dead.

    Shows who would win and why not the others, asks, and shows what changed. Refused when another
    master was elected meanwhile.

    Examples:
        regent controller elect broker-a --broker 2 --dry-run
        regent controller elect broker-a --broker 2
        regent controller elect broker-a --yes

    Args:
        group: Name of the broker group.
        broker: Id of the broker that shall be master.
        cluster: Name of the cluster; not needed when there is only one.
        dry_run: Show what would happen and change nothing.
        yes: Do not ask.
        options: Which server, and how to print.
    """
    is_json = options.output == "json"
    with connect(options) as client:
        path = group_path(client, cluster, group)
        show_target(client, path)
        before = client.get(path)
        election = client.get(f"{path}/election", broker_id=broker)
        if not is_json:
            print_election(election)
        if dry_run:
            if is_json:
                print_json({"before": before, "election": election})
            return
        confirm(group, yes=yes)
        order = {"expected_master_epoch": before["master_epoch"], "broker_id": broker}
        done = client.post(f"{path}/elect", order)
    if is_json:
        print_json({"outcome": done["outcome"], "before": before, "after": done["group"]})
        return
    print_line(f"\n{done['outcome']}")
    print_difference(before, done["group"])


@controller.command(name="forget")
def forget_replicas(
    group: str,
    /,
    *,
    broker: Annotated[list[BrokerId] | None, Parameter(negative="")] = None,
    living: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    options: Options = Options(),  # noqa: B008
) -> None:
    """Forget replicas that will not come back, or a whole group; ids are never given away again.

    A living replica is forgotten only with its whole group. What was acknowledged and is held by
    nobody else is lost with them.

    Examples:
        regent controller forget broker-a --broker 3 --dry-run
        regent controller forget broker-a --broker 2 --broker 3
        regent controller forget broker-a --living

    Args:
        group: Name of the broker group.
        broker: Id of a replica to forget, more than once if need be; without, the whole group.
        living: Forget the whole group although replicas of it are alive.
        cluster: Name of the cluster; not needed when there is only one.
        dry_run: Show what would happen and change nothing.
        yes: Do not ask.
        options: Which server, and how to print.
    """
    is_json = options.output == "json"
    with connect(options) as client:
        path = group_path(client, cluster, group)
        show_target(client, path)
        before = client.get(path)
        ids = broker or [replica["broker_id"] for replica in before["replicas"]]
        if not is_json:
            print_line(f"To be forgotten: {ids_text(ids)}{'' if broker else ', the whole group'}")
        if dry_run:
            if is_json:
                print_json({"before": before, "broker_ids": ids})
            return
        confirm(group, yes=yes)
        order = {
            "expected_master_epoch": before["master_epoch"],
            "broker_ids": broker or [],
            "includes_living": living,
        }
        after = client.post(f"{path}/forget", order)["group"]
    if is_json:
        print_json({"before": before, "after": after})
        return
    print_difference(before, after)


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
