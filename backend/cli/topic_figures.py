"""The commands `regent topic offsets | clusters | stats | allocate`."""

from typing import Annotated

from cyclopts import App, Parameter

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import number_text, print_json, print_line, print_table, time_text
from backend.cli.paging import print_unknown
from backend.cli.rest import connect, segment
from backend.cli.target import Options
from backend.cli.topics import Kind


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
    with connect(options) as client:
        place = f"/clusters/{segment(choose_cluster(client, cluster))}/topics/{segment(name)}"
        found = client.get(f"{place}/offsets")
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("GROUP", "QUEUE#", "MIN OFFSET#", "MAX OFFSET#", "MESSAGES#", "LAST STORED"),
        [
            (
                one["broker_group_name"],
                one["queue_id"],
                one["min_offset"],
                one["max_offset"],
                max(0, one["max_offset"] - one["min_offset"]),
                time_text(one["stored_at"]),
            )
            for one in found["queues"]
        ],
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
    with connect(options) as client:
        found = client.get(f"/topics/{segment(name)}/clusters")
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("CLUSTER", "KIND", "BROKER GROUPS"),
        [(one["cluster_name"], one["kind"], ", ".join(one["broker_group_names"])) for one in found],
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
    with connect(options) as client:
        path = f"/clusters/{segment(choose_cluster(client, cluster))}/topic-stats"
        found = list(client.list(path, limit=limit, search=search, kind=kind))
    if options.output == "json":
        print_json(found)
        return
    rows: list[tuple[object, ...]] = []
    for one in found:
        figures = (
            one["name"],
            number_text(one["messages_in_per_second"]),
            number_text(one["bytes_in_per_second"], digits=0),
        )
        rows += [
            (
                *figures,
                reader["consumer_group_name"],
                reader["lag"],
                time_text(reader["measured_at"]),
            )
            for reader in one["readers"]
        ] or [(*figures, None, None, None)]
    print_table(("TOPIC", "MESSAGES/S#", "BYTES/S#", "CONSUMER GROUP", "LAG#", "MEASURED"), rows)


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
    with connect(options) as server:
        place = f"/clusters/{segment(choose_cluster(server, cluster))}/topics/{segment(name)}"
        found = server.get(f"{place}/allocations", client=client)
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("RULE", "CLIENT", "QUEUES#", "WHICH"),
        [
            (
                one["rule"],
                client_id,
                len(queues),
                ", ".join(f"{queue['broker_group_name']}/{queue['queue_id']}" for queue in queues),
            )
            for one in found
            for client_id, queues in one["clients"].items()
        ],
    )
