"""The command `regent topic static list`."""

from typing import Final

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.output import Columns, Item, joined
from backend.cli.paging import show_list
from backend.cli.target import Options


def _led_by(shares: list[Item]) -> str:
    return joined(f"{one['broker_group_name']} ({one['led_count']})" for one in shares)


COLUMNS: Final[Columns] = {
    "TOPIC": "name",
    "QUEUES#": "queue_count",
    "EPOCH#": "epoch",
    "LED BY": ("shares", _led_by),
    "CHANGE": "change_id",
}


def list_static_topics(
    *,
    search: str | None = None,
    broker_group: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List static topics with the broker groups that lead their logical queues.

    LED BY shows how many queues each broker group leads. A broker group with 0 stores older
    messages only. CHANGE is the operation that changes the topic now.

    Examples:
        regent topic static list
        regent topic static list --broker-group broker-a -o json

    Args:
        search: Only static topics whose name contains this text.
        broker_group: Only static topics that have a segment on this broker group.
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of topics.
        options: Which server, and how to print.
    """
    show_list(
        options,
        in_cluster(cluster, "static-topics"),
        COLUMNS,
        limit=limit,
        search=search,
        broker_group_name=broker_group,
    )
