"""The commands `regent timer …`: messages that wait for a time."""

from typing import Any, Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import (
    Columns,
    age_text,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.paging import collect, print_unknown, show_asked_list
from backend.cli.rest import connect
from backend.cli.target import Options

timer = App(name=["timer", "timers"], help="Show messages that wait for a time, and recall one.")

_UNKNOWN: Final = "?"


def _count(name: str) -> Any:
    return lambda one: _UNKNOWN if one[name] is None else str(one[name])


def _time(name: str) -> Any:
    return lambda one: "" if one[name] is None else time_text(one[name])


COLUMNS: Final[Columns] = {
    "CLUSTER": "cluster_name",
    "BROKER": "broker_group_name",
    "WAITING#": "waiting_count",
    "OVERDUE#": _count("overdue_count"),
    "LATE#": ("behind_ms", age_text),
    "FIRST DUE": _time("first_due_at"),
    "LAST DUE": _time("last_due_at"),
    "TOPICS#": "topic_count",
    "STANDS STILL": lambda one: one["hindrance"] or "",
}
SPAN_COLUMNS: Final[Columns] = {"FROM": ("starts_at", time_text), "DUE#": "waiting_count"}
TOPIC_COLUMNS: Final[Columns] = {"TOPIC": "topic", "WAITING#": "waiting_count"}


@timer.command(name="list")
def list_timers(
    *,
    topic: str | None = None,
    broker_group: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the broker groups with the number of messages that wait for a time.

    Producers send such messages with the property TIMER_DELIVER_MS, TIMER_DELAY_MS or
    TIMER_DELAY_SEC. LATE is how late the wheel delivers its next second. If the wheel does not move
    on, STANDS STILL says why. RocketMQ brokers report no due times.

    Examples:
        regent timer list
        regent timer list --topic orders
        regent timer list -o json

    Args:
        topic: Only broker groups with waiting messages of this topic.
        broker_group: Only this broker group.
        cluster: Name of the cluster. Default: all clusters.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_asked_list(
        options,
        "/timers",
        COLUMNS,
        name="timers",
        limit=limit,
        cluster_name=cluster,
        broker_group_name=broker_group,
        topic=topic,
    )


@timer.command(name="show")
def show_timers(
    broker_group: str,
    /,
    *,
    minutes: bool = False,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show when the waiting messages of a broker group are due, by hour and by topic.

    A message that is due later than two days is listed at the time when the broker stores it again.

    Examples:
        regent timer show broker-a
        regent timer show broker-a --minutes
        regent timer show broker-a -o json

    Args:
        broker_group: Name of the broker group.
        minutes: Show the minutes of the next hour in place of hours.
        cluster: Name of the cluster. Default: all clusters with such a broker group.
        options: Which server, and how to print.

    Raises:
        CommandError: no broker group has the name.
    """
    with connect(options) as client:
        found = collect(
            client, "/timers", limit=100, cluster_name=cluster, broker_group_name=broker_group
        )
    if not found.items and not found.unknown:
        raise CommandError(
            f"there is no broker group {broker_group}",
            next_step="regent timer list",
            exit_code=ExitCode.NOT_FOUND,
        )
    if options.output == "json":
        print_json({"timers": found.items, "unknown": found.unknown})
        return
    for one in found.items:
        print_items(COLUMNS, [one])
        _print_times(one, "minutes" if minutes else "hours")
        print_items(TOPIC_COLUMNS, one["topics"])
    print_unknown(found.unknown)


def _print_times(one: dict[str, Any], name: str) -> None:
    if one[name] is None:
        print_line(f"{one['broker_group_name']} is a RocketMQ broker: it reports no due times")
        return
    print_items(SPAN_COLUMNS, one[name])


timer.command("backend.cli.timer_orders:recall_message", name="recall")
