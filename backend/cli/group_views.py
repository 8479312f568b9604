"""The commands `regent group list`, `get`, `lag` and `members`: show consumer groups."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, cluster_path, in_cluster
from backend.cli.output import (
    Item,
    age_text,
    joined,
    print_items,
    print_json,
    print_json_line,
    print_line,
    time_text,
    yes_no,
)
from backend.cli.paging import ask, print_unknown, show_asked_list
from backend.cli.protections import protection_text
from backend.cli.rest import connect
from backend.cli.target import Options

PAGE_SIZE: Final = 100

Seconds = Annotated[float, Parameter(validator=validators.Number(gt=0))]


def register(group: App) -> None:
    """Add the commands to those that change consumer groups."""
    group.command(list_groups, name="list")
    group.command(get_group, name=["get", "show"])
    group.command(show_lag, name="lag")
    group.command(list_members, name="members")


def list_groups(
    *,
    search: str | None = None,
    system: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List consumer groups with their connected members and their lag.

    The command asks the masters now. WAITS is the age of the oldest message that is not consumed;
    `-` means unknown. A number with `+` does not include the brokers that are named below the
    table. LAG is `none` for a group that broadcasts, because its members keep their own offsets.
    LAG does not include messages that were deleted before the group read them. If some brokers did
    not answer, STATE shows how many brokers answered.

    Examples:
        regent group list
        regent group list --search bill -o json

    Args:
        search: Only consumer groups whose name contains this text.
        system: List the brokers' own consumer groups too.
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of consumer groups.
        options: Which server, and how to print.
    """
    show_asked_list(
        options,
        in_cluster(cluster, "consumer-groups"),
        {
            "NAME": "name",
            "STATE": state_text,
            "MEMBERS#": "member_count",
            "LAG#": ("lag", lag_text),
            "WAITS#": lambda one: age_text(one["lag"]["waiting_ms"]),
            "RETRIES#": ("retry_lag", lag_text),
            "PROTECTED": ("protection", yes_no),
            "BROKER GROUPS": ("broker_group_names", joined),
        },
        name="groups",
        limit=limit,
        search=search,
        includes_system="true" if system else None,
    )


def get_group(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a consumer group: members, subscriptions, settings, lag of each queue, dead letters.

    Examples:
        regent group get billing
        regent group get billing -o json

    Args:
        name: Name of the consumer group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    found = ask(options, in_cluster(cluster, "consumer-groups", name))
    if options.output == "json":
        print_json(found)
        return
    models = ", ".join(found["models"]) or "no member is connected"
    print_line(f"{found['name']}  {state_text(found)}, {models}")
    print_line(f"deletion protection: {protection_text(found['protection'])}")
    _print_totals(found)
    _print_members(found)
    print_items(
        {"TOPIC": "topic", "EXPRESSION": ("expressions", " or ".join)},
        found["subscriptions"],
        title="\nSubscriptions",
    )
    print_items(
        {
            "BROKER GROUP": "broker_group_name",
            "MAY CONSUME": ("consume_enabled", yes_no),
            "RETRIES#": "retry_count_max",
            "TIMEOUT#": lambda one: f"{one['consume_timeout_minutes']} min",
            "ORDERED": ("is_ordered", yes_no),
        },
        found["settings"],
        title="\nSettings",
    )
    _print_queues(found, title="\nQueues")
    print_unknown(found["unknown"])


def show_lag(
    name: str,
    /,
    *,
    watch: Annotated[bool, Parameter(negative="")] = False,
    interval: Seconds = 2.0,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show the lag of a consumer group in each queue, in messages and in seconds.

    Examples:
        regent group lag billing
        regent group lag billing --watch

    Args:
        name: Name of the consumer group.
        watch: Refresh the output until you press Ctrl-C.
        interval: Seconds between two refreshes with --watch.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        while True:
            found = client.get(cluster_path(client, cluster, "consumer-groups", name))
            summary = {key: found[key] for key in ("name", "lag", "retry_lag", "queues", "unknown")}
            if options.output == "json":
                print_json_line(summary) if watch else print_json(summary)
            else:
                _print_totals(found)
                _print_queues(found)
                print_unknown(found["unknown"])
            if not watch:
                return
            time.sleep(interval)


def list_members(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """List the clients of a consumer group.

    Example:
        regent group members billing

    Args:
        name: Name of the consumer group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    found = ask(options, in_cluster(cluster, "consumer-groups", name))
    if options.output == "json":
        print_json({"members": found["members"], "unknown": found["unknown"]})
        return
    _print_members(found)
    print_unknown(found["unknown"])


def lag_text(lag: Mapping[str, Any]) -> str | None:
    """Write a lag, with `+` if it may be larger, and the number of expired messages."""
    if not lag["is_applicable"]:
        return "none"
    if lag["message_count"] is None:
        return None
    expired = f" ({lag['expired_count']} expired unread)" if lag["expired_count"] else ""
    return f"{lag['message_count']}{'' if lag['is_complete'] else '+'}{expired}"


def state_text(group: Mapping[str, Any]) -> str:
    """Write whether a group has members, and how many brokers answered if not all did."""
    answered, asked = group["broker_count_told"], group["broker_count_asked"]
    state: str = group["state"]
    return state if answered == asked else f"{state}, by {answered} of {asked} brokers"


def version_text(client: Item) -> str:
    """Write the version of a client, by its name if known."""
    return str(client["version_name"] or client["version"])


def _print_totals(found: Mapping[str, Any]) -> None:
    lag, waits = lag_text(found["lag"]), age_text(found["lag"]["waiting_ms"])
    dead = found["dead_letter_count"]
    least = "" if found["is_dead_letter_count_complete"] else "at least "
    letters = f"dead letters {'unknown' if dead is None else f'{least}{dead}'}"
    if not found["lag"]["is_applicable"]:
        print_line(f"no lag: it broadcasts, so its members keep their own offsets; {letters}")
        return
    print_line(
        f"lag {lag or 'unknown'}, the oldest waits {waits or 'unknown'},"
        f" retries {lag_text(found['retry_lag']) or 'unknown'},"
        f" {letters}"
    )
    for one in found["queues"]:
        if one["ahead_count"]:
            print_line(
                f"{one['topic']}/{one['queue_id']} on {one['broker_group_name']}:"
                " the offset is ahead of"
                f" the queue's end by {one['ahead_count']} messages"
            )


def _print_members(found: Item) -> None:
    print_items(
        {
            "CLIENT": "client_id",
            "ADDRESS": ("addresses", joined),
            "LANGUAGE": "language",
            "VERSION": version_text,
            "BROKER GROUPS": ("broker_group_names", joined),
            "MODEL": lambda one: " or ".join(one["message_models"]).lower() or None,
            "SUBSCRIBES TO": lambda one: " or ".join(one["subscriptions"]) or None,
        },
        found["members"],
        title="\nMembers",
    )


def _print_queues(found: Item, title: str | None = None) -> None:
    print_items(
        {
            "TOPIC": "topic",
            "BROKER GROUP": "broker_group_name",
            "QUEUE#": "queue_id",
            "COMMITTED#": "committed",
            "BEGIN#": "begin",
            "END#": "end",
            "LAG#": "lag",
            "EXPIRED#": "expired_count",
            "WAITS#": ("waiting_ms", age_text),
            "LAST": ("consumed_at", time_text),
            "READS": "owner",
        },
        found["queues"],
        title=title,
    )
