"""The commands `regent broker config …`: what a broker is set to."""

from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, choose_cluster
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import Ordering, choose_target, order_change
from backend.cli.output import print_json, print_table
from backend.cli.rest import connect, segment
from backend.cli.target import Options

config = App(name="config", help="Show and change what a broker is set to.")

RegisteredId = Annotated[int, Parameter(name="--broker", validator=validators.Number(gte=0))]


@config.command(name="get")
def get_config(
    group: str,
    /,
    *names: str,
    broker: RegisteredId = 0,
    changed: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a broker's properties: what is in force, what its file says, and what may be set.

    The broker itself is asked. FILE is what the next start takes, `-` where that is not told.

    Examples:
        regent broker config get broker-a
        regent broker config get broker-a fileReservedTime deleteWhen
        regent broker config get broker-a --broker 1 --changed

    Args:
        group: Name of the broker group.
        names: Names of properties; all when left out.
        broker: Id of the broker as it is registered; 0 is the master.
        changed: Only what is not the default, or counts after the next start.
        cluster: Name of the cluster; not needed when there is only one.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        place = f"/clusters/{segment(choose_cluster(client, cluster))}"
        found = client.get(f"{place}/broker-groups/{segment(group)}/brokers/{broker}/config")
    chosen = [one for one in found["properties"] if not names or one["name"] in names]
    missing = set(names) - {one["name"] for one in chosen}
    if missing:
        raise CommandError(
            f"the broker has no property {min(missing)}",
            next_step=f"regent broker config get {group}",
            exit_code=ExitCode.NOT_FOUND,
        )
    if changed:
        chosen = [one for one in chosen if _is_changed(one)]
    if options.output == "json":
        print_json(chosen)
        return
    print_table(
        ("NAME", "IN FORCE", "FILE", "MAY BE", "COUNTS"),
        [
            (one["name"], one["value"], one["stored"], _range(one), _COUNTS[one["effect"]])
            for one in chosen
        ],
    )


@config.command(name="set")
def set_config(
    group: str,
    /,
    *assignments: str,
    broker: RegisteredId = 0,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Set properties of one broker: only those named change, in force and in its file.

    An unknown name is refused with the near ones, and so is what only the file can change. Says
    what counts after a restart, reads back, and is taken back by the former values. An empty value
    is the default; sizes may be written as 64MiB.

    Examples:
        regent broker config set broker-a fileReservedTime=48 --dry-run
        regent broker config set broker-a deleteWhen=02 maxMessageSize=8MiB --broker 1

    Args:
        group: Name of the broker group.
        assignments: NAME=VALUE, one or more.
        broker: Id of the broker as it is registered; 0 is the master.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    changes = [_change(one) for one in assignments]
    if not changes:
        raise CommandError("nothing to set: give NAME=VALUE", exit_code=ExitCode.USAGE)
    with connect(options) as client:
        parameters = {
            "cluster_name": choose_target(client, cluster, f"broker {group}/{broker}"),
            "group_name": group,
            "broker_id": broker,
            "changes": changes,
        }
        is_json = options.output == "json"
        order_change(client, "change_broker_config", parameters, ordering, is_json=is_json)


_COUNTS = {
    "live": "at once",
    "restart": "after a restart",
    "fixed": "read-only",
    "unknown": "not told",
}


def _change(assignment: str) -> dict[str, str]:
    name, mark, value = assignment.partition("=")
    if not name or not mark:
        raise CommandError(f"{assignment!r} is not NAME=VALUE", exit_code=ExitCode.USAGE)
    return {"name": name.strip(), "value": value}


def _is_changed(one: dict[str, Any]) -> bool:
    stored = one["stored"]
    return (stored is not None and stored != one["value"]) or (
        one["default"] is not None and one["value"] != one["default"]
    )


def _range(one: dict[str, Any]) -> str:
    if one["choices"]:
        return " or ".join(one["choices"])
    if one["low"] is not None:
        return f"{one['type']} {one['low']} to {one['high']}"
    return str(one["type"])
