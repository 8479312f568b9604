"""The commands `regent broker config …`: the properties of a broker."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from backend.cli.broker_names import OwnId, asked_path, find_broker
from backend.cli.clusters import ClusterName, choose_cluster
from backend.cli.errors import CommandError, ExitCode
from backend.cli.paging import show_items
from backend.cli.rest import connect
from backend.cli.target import Options

config = App(name="config", help="Show and change a broker's properties.")


@config.command(name="get")
def get_config(
    broker_name: str,
    /,
    *names: str,
    broker: OwnId = None,
    changed: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a broker's properties: the current value, the value in its file, and the allowed values.

    The command asks the broker. FILE is the value that the broker uses after its next start; `-`
    means unknown.

    Examples:
        regent broker config get broker-a-2
        regent broker config get broker-a-2 fileReservedTime deleteWhen
        regent broker config get broker-a --changed

    Args:
        broker_name: Name of the broker, as broker-a-2, or of its broker group.
        names: Names of properties. Default: all properties.
        broker: Id of the broker, if a broker group is named. Default: the master of the group.
        changed: Only properties whose value is not the default, or changes at the next start.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        where = choose_cluster(client, cluster)
        meant = find_broker(client, where, broker_name, broker)
        found = client.get(asked_path(client, where, meant, "config"))
    chosen = [one for one in found["properties"] if not names or one["name"] in names]
    missing = set(names) - {one["name"] for one in chosen}
    if missing:
        raise CommandError(
            f"the broker has no property {min(missing)}",
            next_step=f"regent broker config get {broker_name}",
            exit_code=ExitCode.NOT_FOUND,
        )
    if changed:
        chosen = [one for one in chosen if _is_changed(one)]
    show_items(
        options,
        chosen,
        {
            "NAME": "name",
            "IN FORCE": "value",
            "FILE": "stored",
            "ALLOWED VALUES": _range,
            "TAKES EFFECT": lambda one: _EFFECTS[one["effect"]],
        },
    )


_EFFECTS = {
    "live": "immediately",
    "restart": "after a restart",
    "fixed": "read-only",
    "unknown": "not reported",
}


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
