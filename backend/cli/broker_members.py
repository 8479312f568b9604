"""The command `regent broker members`: what each broker of a group does, and who acts."""

from collections.abc import Callable
from typing import Final

from backend.cli.clusters import ClusterName, cluster_path
from backend.cli.output import (
    Columns,
    Item,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.rest import connect
from backend.cli.target import Options


def _figure(name: str) -> Callable[[Item], str]:
    return lambda one: "" if one[name] is None else str(one[name])


COLUMNS: Final[Columns] = {
    "NAME": "name",
    "ADDRESS": "address",
    "STATE": "state",
    "PHASE": lambda one: one["phase"].replace("_", " "),
    "ALIVE#": _figure("alive_count"),
    "OFFSET VERSION#": _figure("offset_version"),
    "LOCKS#": _figure("lock_count"),
    "LAST HEARTBEAT": ("last_heartbeat_at", time_text),
}


def list_members(
    broker_group: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show what each broker of a group does now, and which replica acts for an absent master.

    The command asks the brokers. Below the table, the command shows what each broker waits for,
    and what to do about that.

    Examples:
        regent broker members broker-a
        regent broker members broker-a -o json

    Args:
        broker_group: Name of the broker group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        path = cluster_path(client, cluster, "broker-groups", broker_group, "members")
        found = client.get(path)
    if options.output == "json":
        print_json(found)
        return
    print_items(COLUMNS, found["members"])
    print_line(f"\nmode: {found['mode'].replace('_', ' ')}")
    if found["acting_broker"] is not None:
        since = time_text(found["acting_since"])
        print_line(f"{found['acting_broker']} acts since {since}: {found['acting_reason']}")
    for one in found["members"]:
        print_line(f"{one['name']}: {one['explanation']}")
        if one["next_step"] is not None:
            print_line(f"    {one['next_step']}")
