"""The command `regent group recorded-lag`: the last measured lag of all groups."""

from collections.abc import Mapping
from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.output import time_text
from backend.cli.paging import show_list
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
    """List the lag of all consumer groups, as a worker last measured it.

    A worker measures the lag every 30 s. The command asks no broker; `regent group lag` asks the
    brokers for one group. A line is older than the other lines if its master did not answer. QUEUES
    is the number of queues that LAG includes, and the topic's number of queues if that is larger.
    LAG does not include a queue if the group has no offset in it. LAG does not include a queue if
    its master never sent a heartbeat. EXPIRED is the number of messages that were deleted before
    the group read them; LAG does not include them. The list does not include groups that broadcast,
    because their members keep their own offsets.

    Examples:
        regent group recorded-lag
        regent group recorded-lag --cluster DefaultCluster -o json

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of lines.
        options: Which server, and how to print.
    """
    show_list(
        options,
        in_cluster(cluster, "recorded-lags"),
        {
            "CONSUMER GROUP": "consumer_group_name",
            "TOPIC": "topic_name",
            "QUEUES#": _queues,
            "LAG#": "lag",
            "EXPIRED#": "expired_count",
            "MEASURED": ("measured_at", time_text),
        },
        limit=limit,
    )


def _queues(one: Mapping[str, Any]) -> str:
    measured, there_are = one["queue_count"], one["topic_queue_count"]
    return (
        str(measured)
        if there_are is None or there_are <= measured
        else f"{measured} of {there_are}"
    )
