"""The commands that look at consumer groups: `regent group list`, `get`, `lag` and `members`."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.output import print_json, print_json_line, print_line, print_table, time_text
from backend.cli.paging import collect, print_unknown
from backend.cli.protections import protection_text, yes_or_no
from backend.cli.rest import RestClient, connect, segment
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
    with connect(options) as client:
        path = f"/clusters/{segment(choose_cluster(client, cluster))}/consumer-groups"
        includes_system = "true" if system else None
        found, unknown = collect(
            client,
            path,
            limit=limit,
            page_size=PAGE_SIZE,
            search=search,
            includes_system=includes_system,
        )
    if options.output == "json":
        print_json({"groups": found, "unknown": unknown})
        return
    print_table(
        ("NAME", "STATE", "MEMBERS#", "LAG#", "WAITS#", "RETRIES#", "PROTECTED", "BROKER GROUPS"),
        [
            (
                one["name"],
                state_text(one),
                one["member_count"],
                lag_text(one["lag"]),
                age_text(one["lag"]["waiting_ms"]),
                lag_text(one["retry_lag"]),
                yes_or_no(one["protection"]),
                ", ".join(one["broker_group_names"]),
            )
            for one in found
        ],
    )
    print_unknown(unknown)


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
    with connect(options) as client:
        found = _read(client, name, cluster)
    if options.output == "json":
        print_json(found)
        return
    models = ", ".join(found["models"]) or "no member is connected"
    print_line(f"{found['name']}  {state_text(found)}, {models}")
    print_line(f"deletion protection: {protection_text(found['protection'])}")
    _print_totals(found)
    _print_members(found)
    print_table(
        ("TOPIC", "EXPRESSION"),
        [(one["topic"], " or ".join(one["expressions"])) for one in found["subscriptions"]],
        title="\nSubscriptions",
    )
    print_table(
        ("BROKER GROUP", "MAY CONSUME", "RETRIES#", "TIMEOUT#", "ORDERED"),
        [
            (
                one["broker_group_name"],
                "yes" if one["consume_enabled"] else "no",
                one["retry_count_max"],
                f"{one['consume_timeout_minutes']} min",
                "yes" if one["is_ordered"] else "no",
            )
            for one in found["settings"]
        ],
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
            found = _read(client, name, cluster)
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
    with connect(options) as client:
        found = _read(client, name, cluster)
    if options.output == "json":
        print_json({"members": found["members"], "unknown": found["unknown"]})
        return
    _print_members(found)
    print_unknown(found["unknown"])


def lag_text(lag: Mapping[str, Any]) -> str | None:
    """Write a lag; with `+` when there may be more than is known, and beside it what expired."""
    if not lag["is_applicable"]:
        return "none"
    if lag["message_count"] is None:
        return None
    expired = f" ({lag['expired_count']} expired unread)" if lag["expired_count"] else ""
    return f"{lag['message_count']}{'' if lag['is_complete'] else '+'}{expired}"


def state_text(group: Mapping[str, Any]) -> str:
    """Write whether a group has members, and how many brokers answered where not all did."""
    answered, asked = group["broker_count_told"], group["broker_count_asked"]
    state: str = group["state"]
    return state if answered == asked else f"{state}, by {answered} of {asked} brokers"


def age_text(milliseconds: int | None) -> str | None:
    """Write an age in seconds."""
    return None if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def _read(client: RestClient, name: str, cluster: str | None) -> dict[str, Any]:
    cluster_name = choose_cluster(client, cluster)
    path = f"/clusters/{segment(cluster_name)}/consumer-groups/{segment(name)}"
    found: dict[str, Any] = client.get(path)
    return found


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


def _print_members(found: Mapping[str, Any]) -> None:
    print_table(
        ("CLIENT", "ADDRESS", "LANGUAGE", "VERSION", "BROKER GROUPS", "MODEL", "SUBSCRIBES TO"),
        [
            (
                one["client_id"],
                ", ".join(one["addresses"]),
                one["language"],
                one["version_name"] or one["version"],
                ", ".join(one["broker_group_names"]),
                " or ".join(one["message_models"]).lower() or None,
                " or ".join(one["subscriptions"]) or None,
            )
            for one in found["members"]
        ],
        title="\nMembers",
    )


def _print_queues(found: Mapping[str, Any], title: str | None = None) -> None:
    print_table(
        (
            "TOPIC",
            "BROKER GROUP",
            "QUEUE#",
            "COMMITTED#",
            "BEGIN#",
            "END#",
            "LAG#",
            "EXPIRED#",
            "WAITS#",
            "LAST",
            "READS",
        ),
        [
            (
                one["topic"],
                one["broker_group_name"],
                one["queue_id"],
                one["committed"],
                one["begin"],
                one["end"],
                one["lag"],
                one["expired_count"],
                age_text(one["waiting_ms"]),
                time_text(one["consumed_at"]),
                one["owner"],
            )
            for one in found["queues"]
        ],
        title=title,
    )
