"""The commands `regent queue share …`: share queues, from which POP consumers receive."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.output import (
    Columns,
    age_text,
    joined,
    pairs_text,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.paging import ask, show_asked_list, show_items
from backend.cli.rest import connect
from backend.cli.target import Options

PAGE_SIZE: Final = 500

share = App(
    name=["share", "shares"],
    help="Show share queues, from which POP consumers receive, and change them.",
)


def _window(one: dict[str, Any]) -> str:
    """Write the window as the two offsets that it is between, and whether it is full."""
    return f"{one['position']}-{one['window_end']}{' full' if one['is_full'] else ''}"


def _holder(one: dict[str, Any]) -> str:
    if one["holder"] is None:
        return "no consumer"
    return one["client_id"] or "a client without a known id"


NAMES: Final[Columns] = {
    "CLUSTER": "cluster_name",
    "CONSUMER GROUP": "consumer_group_name",
    "TOPIC": "topic",
    "BROKER": "broker_group_name",
    "QUEUE#": "queue_id",
}
COLUMNS: Final[Columns] = {
    **NAMES,
    "MODE": "mode",
    "OWNER": lambda one: one["owner"] or "no member",
    "WAIT#": lambda one: str(len(one["waiters"])),
    "EPOCH#": "lease_epoch",
    "WINDOW": _window,
    "UNFINISHED#": "unfinished_count",
    "IN FLIGHT#": "acquired_count",
    "CAME BACK#": "returned_count",
    "OLDEST#": ("oldest_acquired_ms", age_text),
    "REDELIVERED#": "redelivered_count",
    "DEAD#": "dead_letter_count",
}
MESSAGE_COLUMNS: Final[Columns] = {
    "OFFSET#": "offset",
    "WITH": _holder,
    "IS": lambda one: one["holder"] or "waits",
    "DELIVERIES#": "delivery_count",
    "DELIVERED#": lambda one: f"{age_text(one['acquired_ms'])} ago",
    "FIRST#": lambda one: f"{age_text(one['delivered_ms'])} ago",
    "AGAIN IN#": ("due_in_ms", age_text),
}


def _subject(one: dict[str, Any]) -> str:
    """Write what an incident is about: a record of the lane, a topic, or a share queue."""
    if one["topic"] is None:
        return f"record at {one['position']}"
    if one["queue_id"] is None:
        return f"topic {one['topic']}"
    return f"{one['consumer_group_name']} {one['topic']}/{one['queue_id']}"


INCIDENT_COLUMNS: Final[Columns] = {
    "INCIDENT#": "id",
    "CLUSTER": "cluster_name",
    "BROKER": "broker",
    "WHAT": "kind",
    "ABOUT": _subject,
    "EPOCH#": "epoch",
    "OTHERS": lambda one: one["outcome"] or "-",
    "SINCE": ("opened_at", time_text),
    "UNTIL": lambda one: time_text(one["resolved_at"]) if one["resolved_at"] else "now",
    "ENDED BY": lambda one: one["resolution"] or "-",
    "REASON": lambda one: one["reason"] or "-",
}


@share.command(name="list")
def list_share_queues(
    *,
    group: str | None = None,
    topic: str | None = None,
    broker_group: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the share queues, with what their consumers have.

    A share queue is what a consumer group knows of one queue. Its owner gives each message to one
    consumer at a time: the master of the broker group (PRIMARY), or a member by lease (SHARED).
    WAIT is the number of members that wait for their turn. WINDOW is the first offset
    that is not finished, and the first offset that was never delivered. OLDEST is the age of the
    oldest delivery in flight. REDELIVERED and DEAD are counted since the owner leads.

    Examples:
        regent queue share list
        regent queue share list --group billing --topic orders
        regent queue share list -o json

    Args:
        group: Only share queues of this consumer group.
        topic: Only share queues of this topic.
        broker_group: Only share queues on this broker group.
        cluster: Name of the cluster. Default: all clusters.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_asked_list(
        options,
        "/share-queues",
        COLUMNS,
        name="share_queues",
        limit=limit,
        page_size=PAGE_SIZE,
        cluster_name=cluster,
        consumer_group_name=group,
        topic=topic,
        broker_group_name=broker_group,
    )


@share.command(name="show")
def show_share_queue(
    group: str,
    topic: str,
    queue: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=2**31 - 1))],
    /,
    *,
    broker_group: str,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a share queue, and which client has which message for how long.

    The list has the messages that were delivered and are not finished. A message that no client has
    waits for its next delivery.

    Examples:
        regent queue share show billing orders 3 --broker-group broker-a
        regent queue share show billing orders 3 --broker-group broker-a -o json

    Args:
        group: Name of the consumer group.
        topic: Name of the topic.
        queue: Number of the queue in its broker group.
        broker_group: Name of the broker group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    path = in_cluster(cluster, "broker-groups", broker_group, "share-queue")
    found = ask(options, path, topic=topic, queue_id=queue, consumer_group_name=group)
    if options.output == "json":
        print_json(found)
        return
    print_items(COLUMNS, [found["queue"]])
    print_line(_sentence(found["queue"]))
    if found["messages"]:
        print_items(MESSAGE_COLUMNS, found["messages"])


def _sentence(one: dict[str, Any]) -> str:
    """Say how the share queue is served, and what was done since its owner leads."""
    numbers = {
        "delivered": one["delivered_count"],
        "again": one["redelivered_count"],
        "finished": one["accepted_count"],
        "dead letters": one["dead_letter_count"],
        "discarded": one["discarded_count"],
        "to the retry topic": one["retried_count"],
    }
    texts = {name: str(number) for name, number in numbers.items()}
    waiters = f", {', '.join(one['waiters'])} waiting" if one["waiters"] else ""
    return (
        f"mode {one['mode']}{waiters}, consume mode {one['consume_mode'] or 'PULL'},"
        f" {one['attempt_count_max']} attempts;"
        f" since {age_text(one['counted_ms'])}: {pairs_text(texts)}"
    )


@share.command(name="incidents")
def list_share_incidents(
    *,
    group: str | None = None,
    topic: str | None = None,
    queue: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=2**31 - 1))]
    | None = None,
    broker_group: str | None = None,
    is_open: Annotated[bool, Parameter(name="--open", negative="")] = False,
    cluster: ClusterName = None,
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """List errors and lost leases of members, and topics that lost messages, the newest first.

    A lane is the log of all share queues of a broker group. A broker that can't store or apply a
    record of a lane has an incident until it has recovered. OTHERS shows whether the other members
    have the record. If they have it, the broker copies the record again. An incident of a lease is
    over at once. So is messages_lost: a topic that is not replicated lost the messages of its
    former master.

    Examples:
        regent queue share incidents
        regent queue share incidents --broker-group broker-a --open
        regent queue share incidents --group billing --topic orders --queue 3 -o json

    Args:
        group: Only incidents of this consumer group, and of lanes.
        topic: Only incidents of this topic, and of lanes.
        queue: Only incidents of this queue, and of lanes.
        broker_group: Only incidents of this broker group.
        is_open: Only incidents that are not over.
        cluster: Name of the cluster. Default: all clusters.
        limit: Maximum number of incidents.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = list(
            client.list(
                "/share-incidents",
                limit=limit,
                cluster_name=cluster,
                consumer_group_name=group,
                topic=topic,
                queue_id=queue,
                broker_group_name=broker_group,
                is_open="true" if is_open else None,
            )
        )
    show_items(options, found, INCIDENT_COLUMNS)
    if options.output != "json":
        _explain(found)


def _explain(found: Sequence[dict[str, Any]]) -> None:
    """Say what each kind of incident means by its newest one, and which others are alike."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        kinds.setdefault(one["kind"], []).append(one)
    for kind, (newest, *others) in kinds.items():
        print_line(f"\n{kind}: {newest['explanation']}")
        if others:
            print_line(f"  likewise: incident {joined(one['id'] for one in others)}")


share.command("backend.cli.share_queue_orders:release_shared_messages", name="release")
share.command("backend.cli.share_queue_orders:reset_share_queue", name="reset")
share.command("backend.cli.share_queue_orders:hand_over_share_queues", name="hand-over")
