"""The command `regent topic logical-queues`."""

from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, in_cluster
from backend.cli.output import Item, joined, print_items, print_json, print_line
from backend.cli.paging import ask
from backend.cli.target import Options


def register(topic: App) -> None:
    """Add the command to those of topics."""
    topic.command(show_logical_queues, name="logical-queues")


def show_logical_queues(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show the segments of a static topic's logical queues, and its unfinished change.

    The command asks no broker. A line is one segment; the last segment of a queue takes its
    messages. PHYSICAL is the queue of the broker group that stores the segment. Offsets are
    logical: START is the first offset of the segment, END is the offset after its last message. An
    end that is not recorded is unknown here. An expired segment has no message left.

    Examples:
        regent topic logical-queues orders
        regent topic logical-queues orders -o json

    Args:
        name: Name of the topic.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    found = ask(options, in_cluster(cluster, "topics", name, "logical-queues"))
    if options.output == "json":
        print_json(found)
        return
    print_items(
        {
            "QUEUE#": "global_id",
            "GENERATION#": "generation",
            "BROKER GROUP": "broker_group_name",
            "PHYSICAL#": "queue_id",
            "STATUS": "status",
            "START#": "logical_start",
            "END#": "logical_end",
        },
        [
            {**segment, "global_id": queue["global_id"]}
            for queue in found["queues"]
            for segment in queue["segments"]
        ],
    )
    print_line(f"\nlogical queues: {found['queue_count']}\nepoch: {found['epoch']}")
    if found["change"] is not None:
        _print_change(found["change"])


def _print_change(change: dict[str, Any]) -> None:
    print_line(f"\nunfinished change: {change['kind']} {change['id']} ({change['state']})")
    moves: list[Item] = change["moves"]
    if moves:
        print_items(
            {
                "QUEUE#": "global_id",
                "FROM": "source_name",
                "TO": "destination_name",
                "STEP": "step",
            },
            moves,
        )
    if change["stale"]:
        print_line(f"broker groups that are down: {joined(change['stale'])}")
