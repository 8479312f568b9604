"""The commands `regent replica lag` and `catch-up`: show the lag, and wait for replicas.

Both commands change nothing: a replica catches up without an order.
"""

from collections.abc import Mapping
from time import monotonic, sleep
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, cluster_path
from backend.cli.controllers import BrokerIdOption
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import ids_text
from backend.cli.output import (
    Item,
    age_text,
    bytes_text,
    print_items,
    print_json,
    print_line,
    yes_no,
)
from backend.cli.reader import print_note
from backend.cli.replicas import role_text
from backend.cli.rest import connect
from backend.cli.target import Options

POLL_INTERVAL_S: Final = 1.0

Seconds = Annotated[float, Parameter(validator=validators.Number(gt=0))]
Size = Annotated[int, Parameter(validator=validators.Number(gte=0))]


def register(replica: App) -> None:
    """Add the commands to those of replicas."""
    replica.command(show_lag, name="lag")
    replica.command(catch_up, name="catch-up")


def show_lag(
    group: str,
    /,
    *,
    watch: Annotated[bool, Parameter(negative="")] = False,
    interval: Seconds = 2.0,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show the lag of each replica of a broker group, in bytes and in seconds.

    The command asks the brokers, and the master last. The lag in seconds is the missing bytes
    divided by the current receive rate; `-` means unknown. A replica that is ahead of its master
    truncates its log to the master's log when it follows the master.

    Examples:
        regent replica lag broker-a
        regent replica lag broker-a --watch --interval 0.5
        regent replica lag broker-a -o json

    Args:
        group: Name of the broker group.
        watch: Refresh the output until you press Ctrl-C.
        interval: Seconds between two refreshes with --watch.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        path = cluster_path(client, cluster, "replica-groups", group, "lag")
        while True:
            found = client.get(path)
            if options.output == "json":
                print_json(found)
            else:
                _print_lags(found)
            if not watch:
                return
            sleep(interval)


def catch_up(
    group: str,
    /,
    *,
    broker: Annotated[list[BrokerIdOption] | None, Parameter(negative="")] = None,
    max_lag: Size = 0,
    timeout: Seconds = 60.0,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Wait until replicas are in the SyncStateSet with a small lag, before a planned change.

    The exit code is 8 if --timeout ends first. The replicas then still continue to catch up.

    Examples:
        regent replica catch-up broker-a
        regent replica catch-up broker-a --broker 3 --timeout 600
        regent replica catch-up broker-a --max-lag 1000000 && echo ready

    Args:
        group: Name of the broker group.
        broker: Id of a replica to wait for. Default: all replicas of the group. Repeatable.
        max_lag: Maximum number of log bytes that a replica may lack.
        timeout: Maximum number of seconds to wait.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    deadline = monotonic() + timeout
    waited_for: list[int] = []
    with connect(options) as client:
        path = cluster_path(client, cluster, "replica-groups", group, "lag")
        while True:
            found = client.get(path)
            behind = _behind(found, broker, max_lag)
            if not behind:
                break
            if [one["broker_id"] for one in behind] != waited_for:
                waited_for = [one["broker_id"] for one in behind]
                print_note("; ".join(_why(one) for one in behind))
            if monotonic() >= deadline:
                raise CommandError(
                    f"not in time: {'; '.join(_why(one) for one in behind)}",
                    why=f"{timeout:g} s are over",
                    next_step=f"look at it with: regent replica lag {group}",
                    exit_code=ExitCode.STILL_RUNNING,
                )
            sleep(min(POLL_INTERVAL_S, max(0.0, deadline - monotonic())))
    if options.output == "json":
        print_json(found)
        return
    ids = broker or [one["broker_id"] for one in found["replicas"] if not one["is_master"]]
    print_line(f"Caught up: {ids_text(ids)}")


def _behind(
    found: Mapping[str, Any], wanted_ids: list[int] | None, max_lag: int
) -> list[Mapping[str, Any]]:
    """List the replicas to wait for.

    Raises:
        CommandError: a named broker is no replica of the group.
    """
    by_id = {one["broker_id"]: one for one in found["replicas"]}
    unknown = [i for i in wanted_ids or () if i not in by_id]
    if unknown:
        raise CommandError(
            f"no such replica: {ids_text(unknown)}",
            why=f"the group's are {ids_text(sorted(by_id))}",
            exit_code=ExitCode.NOT_FOUND,
        )
    # A replica in the set may be about to leave it, and its lag is a moment old.
    return [
        by_id[i]
        for i in wanted_ids or by_id
        if not by_id[i]["is_in_sync"]
        or by_id[i]["lag_bytes"] is None
        or by_id[i]["lag_bytes"] > max_lag
    ]


def _why(one: Mapping[str, Any]) -> str:
    name = f"broker {one['broker_id']}"
    if one["error"]:
        return f"{name} is not known: {one['error']}"
    if one["ahead_bytes"]:
        return f"{name} is ahead of its master by {bytes_text(one['ahead_bytes'])}"
    if one["lag_bytes"] is None:
        return f"how much {name} lacks is not known"
    outside = "" if one["is_in_sync"] else " and is outside the sync-state set"
    obstacle = f", and does not follow: {one['obstacle']}" if one["obstacle"] else ""
    return f"{name} lacks {bytes_text(one['lag_bytes'])}{outside}{obstacle}"


def _print_lags(found: Mapping[str, Any]) -> None:
    print_items(
        {
            "ID#": "broker_id",
            "ROLE": role_text,
            "IN SET": ("is_in_sync", yes_no),
            "FOLLOWS": _follows,
            "LOG END#": "max_offset",
            "LAG#": _lag,
            "RATE#": _rate,
            "CATCHES UP IN#": lambda one: (
                None if one["is_master"] else age_text(one["catch_up_ms"])
            ),
        },
        found["replicas"],
    )
    for one in found["replicas"]:
        if one["error"]:
            print_line(f"Broker {one['broker_id']} is not known: {one['error']}")
        elif one["obstacle"]:
            print_line(f"Broker {one['broker_id']} does not follow: {one['obstacle']}")
    if found["master_id"] is None:
        print_line("The group has no master, so what the replicas lack is unknown.")


def _lag(one: Mapping[str, Any]) -> str | None:
    if one["ahead_bytes"]:
        return f"ahead by {bytes_text(one['ahead_bytes'])}"
    return bytes_text(one["lag_bytes"])


def _follows(one: Mapping[str, Any]) -> str | None:
    if one["is_master"] or one["is_following"] is None:
        return None
    return yes_no(one["is_following"])


def _rate(one: Item) -> str | None:
    rate = one["bytes_per_second"]
    return None if one["is_master"] or rate is None else f"{bytes_text(rate)}/s"
