"""The commands `regent broker status | consume-stats`: figures that a broker reports."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter, validators

from backend.cli.broker_names import OwnId, asked_path, find_broker
from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import print_items, print_json, print_line, print_table, time_text
from backend.cli.paging import collect, print_unknown
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

PAGE_SIZE = 100

LeastLag = Annotated[int, Parameter(validator=validators.Number(gte=0))]


def register(broker: App) -> None:
    """Add the commands to those of brokers."""
    broker.command(show_status, name="status")
    broker.command(show_consume_stats, name="consume-stats")


def show_status(
    broker_name: str,
    /,
    *names: str,
    broker: OwnId = None,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show the figures that a running broker reports, such as rates, log positions and disk usage.

    The command asks the broker. Names and values are those of RocketMQ brokers.

    Examples:
        regent broker status broker-a-2
        regent broker status broker-a putTps commitLogDiskRatio

    Args:
        broker_name: Name of the broker, as broker-a-2, or of its broker group.
        names: Names of figures. Default: all figures.
        broker: Id of the broker, if a broker group is named. Default: the master of the group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get(_path(client, cluster, broker_name, broker, "status"))
    figures = {
        name: value for name, value in found["figures"].items() if not names or name in names
    }
    if options.output == "json":
        print_json({**found, "figures": figures})
        return
    print_table(("NAME", "VALUE"), figures.items())
    if found["figures"].get("online") == "false":
        print_line(f"The broker is not online: {found['figures'].get('notOnlineReason')}")


def show_consume_stats(
    broker_name: str,
    /,
    *,
    broker: OwnId = None,
    lag_min: LeastLag = 0,
    sort: Literal["name", "lag"] = "name",
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """Show the offsets and the lag of consumer groups on one broker.

    The command asks the broker. It shows the consumer groups that have committed an offset on this
    broker.

    Examples:
        regent broker consume-stats broker-a-2
        regent broker consume-stats broker-a --lag-min 1 --sort lag

    Args:
        broker_name: Name of the broker, as broker-a-2, or of its broker group.
        broker: Id of the broker, if a broker group is named. Default: the master of the group.
        lag_min: Only queues with at least this lag, in messages.
        sort: Order of the output: by name, or by lag with the largest lag first.
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of consumer groups.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        path = _path(client, cluster, broker_name, broker, "consume-stats")
        found = collect(client, path, limit=limit)
    rows: list[dict[str, Any]] = [
        {"consumer_group_name": one["consumer_group_name"], **queue}
        for one in found.items
        for queue in one["queues"]
        if _lags(one, queue, lag_min)
    ]
    if sort == "lag":
        rows.sort(key=lambda row: -(row["lag"] or 0))
    if options.output == "json":
        print_json({"items": rows, "unknown": found.unknown})
        return
    _print_stats(found.items, rows, is_whole=not found.unknown)
    print_unknown(found.unknown)


def _print_stats(
    found: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], *, is_whole: bool
) -> None:
    print_items(
        {
            "CONSUMER GROUP": "consumer_group_name",
            "TOPIC": "topic",
            "QUEUE#": "queue_id",
            "COMMITTED#": "committed",
            "END#": "end",
            "LAG#": "lag",
            "EXPIRED#": "expired_count",
            "LAST CONSUMED": ("consumed_at", time_text),
        },
        rows,
    )
    known = [row["lag"] for row in rows if row["lag"] is not None]
    is_whole &= not any(
        queue["lag"] is None
        for one in found
        if not one["is_broadcasting"]
        for queue in one["queues"]
    )
    print_line(f"\nmessages left to read: {'' if is_whole else 'at least '}{sum(known)}")
    for one in found:
        if one["is_broadcasting"]:
            print_line(
                f"{one['consumer_group_name']} broadcasts: its members keep their own offsets"
            )


def _lags(group: Mapping[str, Any], queue: Mapping[str, Any], lag_min: int) -> bool:
    """Return whether a queue is shown; a queue with an unknown lag always is."""
    if queue["lag"] is None:
        return not (group["is_broadcasting"] and lag_min)
    return bool(queue["lag"] >= lag_min)


def _path(client: RestClient, cluster: str | None, text: str, own_id: int | None, what: str) -> str:
    name = choose_cluster(client, cluster)
    return asked_path(client, name, find_broker(client, name, text, own_id), what)
