"""The commands `regent offset …`: where consumer groups read."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import Ordering, choose_target, order_change
from backend.cli.rest import connect
from backend.cli.target import Options
from backend.cli.topic_orders import BrokerGroups

offset = App(name=["offset", "offsets"], help="Change where consumer groups go on reading.")

Mode = Literal["auto", "online", "offline"]
QueueId = Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65_535))]


@offset.command(name="reset")
def reset_offsets(
    group: str,
    topic: str,
    /,
    *,
    to: str,
    broker_group: BrokerGroups = None,
    queue: Annotated[list[QueueId] | None, Parameter(negative="")] = None,
    mode: Mode = "auto",
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Have a consumer group go on reading a topic elsewhere.

    Shows for each queue where it is, where it goes on, and how many messages that skips or brings
    again. Online, connected consumers are told; offline, none may be connected. Taken back by the
    former offsets: what was read meanwhile is read again.

    Examples:
        regent offset reset billing orders --to earliest --dry-run
        regent offset reset billing orders --to 2026-03-02T12:00:00Z
        regent offset reset billing orders --to 1200 --broker-group broker-a --queue 3

    Args:
        group: Name of the consumer group.
        topic: Name of the topic.
        to: earliest, latest, an offset, or a time such as 2026-03-02T12:00:00Z.
        broker_group: Name of a broker group, more than once if need be.
        queue: Number of a queue, more than once if need be.
        mode: Tell consumers, or write the offsets of a group without any; auto looks who is there.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    place = _place(to)
    with connect(options) as client:
        parameters = {
            "cluster_name": choose_target(client, cluster, f"consumer group {group} in {topic}"),
            "consumer_group": group,
            "topic_name": topic,
            **place,
            "broker_groups": broker_group or [],
            "queue_ids": queue or [],
            "mode": mode,
        }
        is_json = options.output == "json"
        order_change(client, "reset_offsets", parameters, ordering, is_json=is_json)


@offset.command(name="clone")
def clone_offsets(
    source: str,
    target: str,
    topic: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    queue: Annotated[list[QueueId] | None, Parameter(negative="")] = None,
    mode: Mode = "auto",
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Have a consumer group go on reading a topic where another group is.

    A reset to the other group's offsets of now: shown for each queue, and taken back by the former
    ones. Queues where the other group never committed stay as they are.

    Examples:
        regent offset clone billing billing-2 orders --dry-run
        regent offset clone billing billing-2 orders --mode offline

    Args:
        source: Name of the consumer group whose offsets are taken.
        target: Name of the consumer group that goes on from there.
        topic: Name of the topic.
        broker_group: Name of a broker group, more than once if need be.
        queue: Number of a queue, more than once if need be.
        mode: Tell consumers, or write the offsets of a group without any; auto looks who is there.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            "cluster_name": choose_target(client, cluster, f"consumer group {target} in {topic}"),
            "consumer_group": target,
            "topic_name": topic,
            "position": "group",
            "source_group": source,
            "broker_groups": broker_group or [],
            "queue_ids": queue or [],
            "mode": mode,
        }
        is_json = options.output == "json"
        order_change(client, "reset_offsets", parameters, ordering, is_json=is_json)


def _place(to: str) -> dict[str, Any]:
    """Read where a group shall go on.

    Raises:
        CommandError: it is no place.
    """
    if to in {"earliest", "latest"}:
        return {"position": to}
    if to.isascii() and to.isdigit():
        return {"position": "offset", "offset": int(to)}
    try:
        moment = datetime.fromisoformat(to)
    except ValueError as error:
        raise CommandError(
            f"{to!r} is no place to go on from",
            why="it is none of earliest, latest, an offset, a time such as 2026-03-02T12:00:00Z",
            exit_code=ExitCode.USAGE,
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return {"position": "time", "timestamp_ms": int(moment.timestamp() * 1000)}
