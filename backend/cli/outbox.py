"""The command `regent broker outbox`: messages that escape from acting masters."""

from typing import Any, Final

from backend.cli.clusters import ClusterName, Limit
from backend.cli.output import Columns, age_text
from backend.cli.paging import show_asked_list
from backend.cli.target import Options


def _next(one: dict[str, Any]) -> str:
    return age_text(one["next_attempt_in_ms"]) or ""


COLUMNS: Final[Columns] = {
    "CLUSTER": "cluster_name",
    "BROKER": "broker_group_name",
    "TOPIC": "topic",
    "KIND": "kind",
    "WAITING#": "entry_count",
    "OLDEST#": ("oldest_age_ms", age_text),
    "FAILED#": "failure_count",
    "NEXT TRY#": _next,
    "WHY": lambda one: one["last_failure"] or "",
}


def list_outbox(
    *,
    topic: str | None = None,
    broker_group: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the messages that wait at acting masters for another broker group.

    A replica acts while the master of its broker group is absent. With
    enableRemoteEscape, the replica sends due messages to other broker groups: they escape. KIND is
    what a message waited for. WHY is the failure of the last attempt.

    Examples:
        regent broker outbox
        regent broker outbox --topic orders
        regent broker outbox -o json

    Args:
        topic: Only messages of this topic.
        broker_group: Only messages of this broker group.
        cluster: Name of the cluster. Default: all clusters.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_asked_list(
        options,
        "/outbox",
        COLUMNS,
        name="topics in outboxes",
        limit=limit,
        cluster_name=cluster,
        broker_group_name=broker_group,
        topic=topic,
    )
