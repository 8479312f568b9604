"""The commands `regent container …`: processes that run several brokers."""

from typing import Any, Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import Columns, print_items, print_json, print_line
from backend.cli.paging import collect, print_unknown, show_asked_list
from backend.cli.rest import connect
from backend.cli.target import Options

container = App(
    name=["container", "containers"],
    help="Show broker containers, and add and remove their brokers.",
)


def _names(one: dict[str, Any]) -> str:
    return ", ".join(broker["name"] or broker["path"] for broker in one["brokers"])


def _failed_count(one: dict[str, Any]) -> str:
    return str(sum(broker["failure"] is not None for broker in one["brokers"]))


COLUMNS: Final[Columns] = {
    "CONTAINER": "address",
    "BROKERS#": lambda one: str(len(one["brokers"])),
    "FAILED#": _failed_count,
    "BROKERS": _names,
    "UNKNOWN": lambda one: one["why_unknown"] or "",
}
BROKER_COLUMNS: Final[Columns] = {
    "CLUSTER": "cluster_name",
    "BROKER": lambda one: one["name"] or one["broker_group_name"],
    "ROLE": lambda one: "master" if one["is_master"] else "replica",
    "FILE": lambda one: one["path"] or "",
    "FAILURE": lambda one: one["failure"] or "",
}


@container.command(name="list")
def list_containers(
    *, cluster: ClusterName = None, limit: Limit = 500, options: Options = Options()
) -> None:
    """List the broker containers, and the brokers that each of them runs.

    A container is one process that runs several brokers. Its brokers report its address.
    RocketMQ brokers do not report their container, so RocketMQ containers are not listed.

    Examples:
        regent container list
        regent container list -o json

    Args:
        cluster: Only containers with a broker of this cluster. Default: all clusters.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_asked_list(
        options, "/containers", COLUMNS, name="containers", limit=limit, cluster_name=cluster
    )


@container.command(name="show")
def show_container(
    address: str, /, *, cluster: ClusterName = None, options: Options = Options()
) -> None:
    """Show the brokers of a container, their files, and why a broker does not run.

    Examples:
        regent container show 127.0.0.1:10811
        regent container show 127.0.0.1:10811 -o json

    Args:
        address: Address of the container, as host:port.
        cluster: Name of the cluster. Default: all clusters.
        options: Which server, and how to print.

    Raises:
        CommandError: no broker reports such a container.
    """
    with connect(options) as client:
        found = collect(client, "/containers", limit=1, cluster_name=cluster, address=address)
    if not found.items:
        raise CommandError(
            f"no broker reports a container {address}",
            next_step="regent container list",
            exit_code=ExitCode.NOT_FOUND,
        )
    if options.output == "json":
        print_json({"containers": found.items, "unknown": found.unknown})
        return
    for one in found.items:
        print_items(BROKER_COLUMNS, one["brokers"])
        if one["why_unknown"] is not None:
            print_line(f"{address} does not list its brokers: {one['why_unknown']}")
    print_unknown(found.unknown)


container.command("backend.cli.container_orders:add_broker", name="add-broker")
container.command("backend.cli.container_orders:remove_broker", name="remove-broker")
