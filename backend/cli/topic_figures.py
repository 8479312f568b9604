"""The commands `regent topic offsets | clusters | stats | allocate`."""

from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import App, Parameter

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.output import (
    Item,
    joined,
    number_text,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.paging import ask, print_unknown, show_items, show_list
from backend.cli.rest import segment
from backend.cli.target import Options
from backend.cli.topics import Kind

_NO_READER: Final = {"consumer_group_name": None, "lag": None, "measured_at": None}


def register(topic: App) -> None:
    """Add the commands to those of topics."""
    topic.command(show_offsets, name="offsets")
    topic.command(show_clusters, name="clusters")
    topic.command(show_stats, name="stats")
    topic.command(show_allocations, name="allocate")


def show_offsets(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show the first offset, the last offset and the last write time of a topic's queues.

    The command asks the masters that hold the topic.

    Example:
        regent topic offsets orders

    Args:
        name: Name of the topic.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    found = ask(options, in_cluster(cluster, "topics", name, "offsets"))
    if options.output == "json":
        print_json(found)
        return
    print_items(
        {
            "BROKER GROUP": "broker_group_name",
            "QUEUE#": "queue_id",
            "MIN OFFSET#": "min_offset",
            "MAX OFFSET#": "max_offset",
            "MESSAGES#": lambda one: max(0, one["max_offset"] - one["min_offset"]),
            "LAST STORED": ("stored_at", time_text),
        },
        found["queues"],
    )
    count = number_text(found["message_count"], digits=0)
    is_partial = found["message_count"] is not None and not found["is_complete"]
    print_line(f"\nmessages: {'at least ' if is_partial else ''}{count}")
    print_unknown(found["unknown"])


def show_clusters(name: str, /, *, options: Options = Options()) -> None:
    """Show the clusters that hold a topic with this name.

    Example:
        regent topic clusters orders

    Args:
        name: Name of the topic.
        options: Which server, and how to print.
    """
    show_items(
        options,
        ask(options, f"/topics/{segment(name)}/clusters"),
        {
            "CLUSTER": "cluster_name",
            "KIND": "kind",
            "BROKER GROUPS": ("broker_group_names", joined),
        },
    )


def show_stats(
    *,
    cluster: ClusterName = None,
    search: str | None = None,
    kind: Kind | None = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """Show the incoming rates of topics, and the lag of their consumer groups.

    The command asks no broker. It shows the rates of the last samples, and the lag of the last
    measurement.

    Examples:
        regent topic stats
        regent topic stats --kind normal --search orders

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        search: Only topics whose name contains this text.
        kind: Only topics of this kind.
        limit: Maximum number of topics.
        options: Which server, and how to print.
    """
    show_list(
        options,
        in_cluster(cluster, "topic-stats"),
        {
            "TOPIC": "name",
            "MESSAGES/S#": ("messages_in_per_second", number_text),
            "BYTES/S#": lambda one: number_text(one["bytes_in_per_second"], digits=0),
            "CONSUMER GROUP": "consumer_group_name",
            "LAG#": "lag",
            "MEASURED": ("measured_at", time_text),
        },
        rows=lambda topic: [{**topic, **reader} for reader in topic["readers"] or [_NO_READER]],
        limit=limit,
        search=search,
        kind=kind,
    )


def show_allocations(
    name: str,
    /,
    *,
    client: Annotated[list[str], Parameter(negative="")],
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show which client would read each queue, for each allocation rule of clients.

    The command changes nothing, because clients allocate the queues themselves.

    Example:
        regent topic allocate orders --client 10.0.0.7@412 --client 10.0.0.8@97

    Args:
        name: Name of the topic.
        client: Id of a client. Repeatable.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    show_items(
        options,
        ask(options, in_cluster(cluster, "topics", name, "allocations"), client=client),
        {
            "RULE": "rule",
            "CLIENT": "client",
            "QUEUES#": ("queues", len),
            "WHICH": ("queues", _queues_text),
        },
        rows=lambda one: (
            {"rule": one["rule"], "client": client, "queues": queues}
            for client, queues in one["clients"].items()
        ),
    )


def _queues_text(queues: Sequence[Item]) -> str:
    return joined(f"{queue['broker_group_name']}/{queue['queue_id']}" for queue in queues)
