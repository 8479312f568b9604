"""The commands `regent cluster …`, and the choice of a cluster for other commands."""

from collections.abc import Callable
from typing import Annotated, Final

from cyclopts import App, Parameter, validators

from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import (
    Columns,
    bytes_text,
    number_text,
    print_items,
    print_json,
    time_text,
)
from backend.cli.paging import show_items, show_list
from backend.cli.rest import RestClient, connect, segment
from backend.cli.target import Options

cluster = App(name=["cluster", "clusters"], help="Show clusters.")

Limit = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=100_000))]
ClusterName = Annotated[str | None, Parameter(name=["--cluster"], env_var="REGENT_CLUSTER")]

Minutes = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=24 * 60))]

COLUMNS: Final[Columns] = {
    "NAME": "name",
    "ROUTE VERSION#": "route_version",
    "CREATED": ("created_at", time_text),
}


@cluster.command(name="list")
def list_clusters(*, limit: Limit = 100, options: Options = Options()) -> None:
    """List the clusters by name.

    Examples:
        regent cluster list
        regent cluster list -o json

    Args:
        limit: Maximum number of clusters.
        options: Which server, and how to print.
    """
    show_list(options, "/clusters", COLUMNS, limit=limit)


@cluster.command(name="get")
def get_cluster(name: str, /, *, options: Options = Options()) -> None:
    """Show one cluster with its broker groups.

    Example:
        regent cluster get DefaultCluster

    Args:
        name: Name of the cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get(f"/clusters/{segment(name)}")
        groups = list(client.list(f"/clusters/{segment(name)}/broker-groups", limit=1_000))
    if options.output == "json":
        print_json({**found, "broker_groups": groups})
        return
    print_items(COLUMNS, [found])
    print_items({"BROKER GROUP": "name"}, groups, title="\nBroker groups")


@cluster.command(name="rates")
def show_rates(
    name: str | None = None, /, *, minutes: Minutes = 5, options: Options = Options()
) -> None:
    """Show the recent message rates of one cluster, or of all clusters together.

    The incoming rate is the sum over all masters; the outgoing rate is the sum over all brokers.
    Each line is one sample, and samples are a few seconds apart. For more than an hour, each line
    is the mean of five minutes. A missing line means that no sample exists for that time.

    Examples:
        regent cluster rates
        regent cluster rates DefaultCluster --minutes 1440 -o json

    Args:
        name: Name of the cluster. Default: all clusters that you have access to.
        minutes: Minutes of history to show, at most 1440.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get("/rates", cluster=name or client.target.cluster, minutes=minutes)
    show_items(
        options,
        found,
        {
            "AT": ("observed_at", time_text),
            "MESSAGES IN/S#": ("messages_in_per_second", number_text),
            "MESSAGES OUT/S#": ("messages_out_per_second", number_text),
            "IN/S#": ("bytes_in_per_second", bytes_text),
            "OUT/S#": ("bytes_out_per_second", bytes_text),
        },
    )


def in_cluster(cluster: str | None, *names: str) -> Callable[[RestClient], str]:
    """Name a resource of a cluster, by the path that `cluster_path` completes."""
    return lambda client: cluster_path(client, cluster, *names)


def cluster_path(client: RestClient, cluster: str | None, *names: str) -> str:
    """Return the path of a resource of a cluster, such as `/clusters/east/topics/orders`."""
    return "/".join(("/clusters", *map(segment, (choose_cluster(client, cluster), *names))))


def choose_cluster(client: RestClient, name: str | None) -> str:
    """Return the named cluster, else the cluster of the context, else the only cluster.

    Raises:
        CommandError: no cluster is named, and the server has none or more than one.
    """
    name = name or client.target.cluster
    if name is not None:
        return name
    names = [str(item["name"]) for item in client.list("/clusters", limit=10)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise CommandError(
            "there is no cluster yet",
            why="no broker has registered with the name server",
            next_step="regent up, or start a broker with regent run broker -c broker.conf",
            exit_code=ExitCode.NOT_FOUND,
        )
    raise CommandError(
        "which cluster?",
        why=f"there are several: {', '.join(names)}",
        next_step=f"add --cluster {names[0]}",
        exit_code=ExitCode.USAGE,
    )
