"""The command `regent group recorded-lag`: how far all groups were when last measured."""

from collections.abc import Mapping
from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import print_json, print_table, time_text
from backend.cli.rest import connect, segment
from backend.cli.target import Options


def register(group: App) -> None:
    """Add the command to those of consumer groups."""
    group.command(list_lags, name="recorded-lag")


def list_lags(
    *,
    cluster: ClusterName = None,
    limit: Limit = 100,
    options: Options = Options(),
) -> None:
    """List how many messages all consumer groups had left when a worker last measured it.

    That is every 30 s. No broker is asked, as `regent group lag` does for one group; a line older
    than the others is of a master that did not answer. QUEUES says of how many queues the number
    is, and of how many the topic has where these are more: in the others the group never committed,
    or their master never sent a heartbeat. EXPIRED is the number of messages that were deleted
    before the group read them; LAG does not include them. Groups that broadcast are not listed:
    their members keep their own offsets.

    Examples:
        regent group recorded-lag
        regent group recorded-lag --cluster DefaultCluster -o json

    Args:
        cluster: Name of the cluster; not needed when there is only one.
        limit: How many at most.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        path = f"/clusters/{segment(choose_cluster(client, cluster))}/recorded-lags"
        found = list(client.list(path, limit=limit))
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("GROUP", "TOPIC", "QUEUES#", "LAG#", "EXPIRED#", "MEASURED"),
        [
            (
                one["consumer_group"],
                one["topic_name"],
                _queues(one),
                one["lag"],
                one["expired_count"],
                time_text(one["measured_at"]),
            )
            for one in found
        ],
    )


def _queues(one: Mapping[str, Any]) -> str:
    told, there_are = one["queue_count"], one["topic_queue_count"]
    return str(told) if there_are is None or there_are <= told else f"{told} of {there_are}"
