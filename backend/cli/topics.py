"""The commands `regent topic …`."""

from typing import Annotated, Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.output import (
    UNKNOWN,
    Columns,
    Item,
    joined,
    number_text,
    print_items,
    print_json,
    print_line,
    print_table,
    time_text,
    yes_no,
)
from backend.cli.paging import ask, show_list
from backend.cli.protections import protection_text
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
    show_list(
        options,
        in_cluster(cluster, "topics"),
        {"NAME": "name", "KIND": "kind", "PROTECTED": ("protection", yes_no)},
        limit=limit,
        search=search,
        kind=kind,
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
    found = ask(options, in_cluster(cluster, "topics", name))
    if options.output == "json":
        print_json(found)
        return
    rate = number_text(found["messages_in_per_second"])
    print_line(f"{found['name']}  {found['kind']}, messages in a second: {rate}")
    print_line(f"deletion protection: {protection_text(found['protection'])}")
    print_items(PLACEMENT_COLUMNS, found["placements"], title="\nPlacements")
    if alone := [one for one in found["placements"] if not one["is_replicated"]]:
        groups = joined(one["broker_group_name"] for one in alone)
        print_line(f"not replicated on {groups}: messages are lost if another broker is master")
    print_items(QUEUE_COLUMNS, found["queues"], title="\nQueues")
    print_table(
        ("BROKER GROUP", "ID#", "ADDRESS"),
        [
            (entry["broker_group_name"], broker_id, address)
            for entry in found["route"]
            for broker_id, address in entry["brokers"].items()
        ],
        title="\nRoute",
    )


def _permissions(placement: Item) -> str:
    return joined(one for one in ("readable", "writable", "inherited") if placement[one]) or UNKNOWN


def _share_mode(placement: Item) -> str:
    turns = ", in turns" if placement["is_time_shared"] else ""
    return f"{placement['share_mode']}{turns}"


PLACEMENT_COLUMNS: Final[Columns] = {
    "BROKER GROUP": "broker_group_name",
    "READ QUEUES#": "read_queue_count",
    "WRITE QUEUES#": "write_queue_count",
    "PERMISSIONS": _permissions,
    "ORDERED": ("is_ordered", yes_no),
    "MESSAGES": lambda one: one["message_type"] or "any type",
    "SHARE MODE": _share_mode,
    "REPLICATED": ("is_replicated", yes_no),
}
QUEUE_COLUMNS: Final[Columns] = {
    "BROKER GROUP": "broker_group_name",
    "QUEUE#": "queue_id",
    "MIN OFFSET#": "min_offset",
    "MAX OFFSET#": "max_offset",
    "OBSERVED": ("observed_at", time_text),
}
