"""The commands `regent topic …`."""

from typing import Annotated, Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import UNKNOWN, number_text, print_json, print_line, print_table, time_text
from backend.cli.protections import protection_text, yes_or_no
from backend.cli.rest import connect, segment
from backend.cli.target import Options
from backend.cli.words import WORDS
from backend.domain.topic import TopicKind

topic = App(name=["topic", "topics"], help="Show and change topics.")

Kind = Annotated[TopicKind | None, WORDS]


@topic.command(name="list")
def list_topics(
    *,
    cluster: ClusterName = None,
    search: str | None = None,
    kind: Kind = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List a cluster's topics by name.

    Examples:
        regent topic list
        regent topic list --kind normal --search orders

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        search: Only topics whose name contains this text.
        kind: Only topics of this kind.
        limit: Maximum number of topics.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        name = choose_cluster(client, cluster)
        path = f"/clusters/{segment(name)}/topics"
        found = list(client.list(path, limit=limit, search=search, kind=kind))
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("NAME", "KIND", "PROTECTED"),
        [(item["name"], item["kind"], yes_or_no(item["protection"])) for item in found],
    )


@topic.command(name="get")
def get_topic(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a topic: its broker groups, its queues, and the route that clients receive.

    Example:
        regent topic get orders

    Args:
        name: Name of the topic.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        cluster_name = choose_cluster(client, cluster)
        found = client.get(f"/clusters/{segment(cluster_name)}/topics/{segment(name)}")
    if options.output == "json":
        print_json(found)
        return
    rate = number_text(found["messages_in_per_second"])
    print_line(f"{found['name']}  {found['kind']}, messages in a second: {rate}")
    print_line(f"deletion protection: {protection_text(found['protection'])}")
    _print_placements(found)
    print_table(
        ("GROUP", "QUEUE#", "MIN OFFSET#", "MAX OFFSET#", "OBSERVED"),
        [
            (
                queue["broker_group_name"],
                queue["queue_id"],
                queue["min_offset"],
                queue["max_offset"],
                time_text(queue["observed_at"]),
            )
            for queue in found["queues"]
        ],
        title="\nQueues",
    )
    print_table(
        ("GROUP", "ID#", "ADDRESS"),
        [
            (entry["broker_group_name"], broker_id, address)
            for entry in found["route"]
            for broker_id, address in entry["brokers"].items()
        ],
        title="\nRoute",
    )


def _print_placements(found: dict[str, Any]) -> None:
    print_table(
        ("GROUP", "READ QUEUES#", "WRITE QUEUES#", "PERMISSIONS", "ORDERED"),
        [
            (
                placement["broker_group_name"],
                placement["read_queue_count"],
                placement["write_queue_count"],
                _permissions(placement),
                "yes" if placement["is_ordered"] else "no",
            )
            for placement in found["placements"]
        ],
        title="\nPlacements",
    )


def _permissions(placement: dict[str, Any]) -> str:
    granted = [name for name in ("readable", "writable", "inherited") if placement[name]]
    return ", ".join(granted) or UNKNOWN
