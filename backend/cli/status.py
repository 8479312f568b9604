"""The command `regent status`: the health of all broker groups in one sentence and a code."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from cyclopts import Parameter, validators

from backend.cli.clusters import ClusterName
from backend.cli.errors import CommandEnded, CommandError, ExitCode
from backend.cli.output import (
    Item,
    joined,
    print_items,
    print_json,
    print_json_line,
    print_line,
    time_text,
)
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options
from backend.domain.health import HealthVerdict

Seconds = Annotated[float, Parameter(validator=validators.Number(gt=0))]

_CODES: Final[Mapping[str, ExitCode]] = {
    HealthVerdict.HEALTHY: ExitCode.DONE,
    HealthVerdict.DEGRADED: ExitCode.DEGRADED,
    HealthVerdict.CRITICAL: ExitCode.CRITICAL,
    HealthVerdict.UNKNOWN: ExitCode.HEALTH_UNKNOWN,
}


def show_status(
    *,
    watch: Annotated[bool, Parameter(negative="")] = False,
    interval: Seconds = 2.0,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show the health of clusters, missing brokers, and the effect of one more failure.

    The command names a dead replica of a group under a controller until the replica returns or is
    forgotten. The exit code 0 means healthy. The exit code 10 means degraded: a replica is down.
    The exit code 11 means critical: a broker group has no writer. The exit code 12 means unknown,
    for example if the control plane does not answer.

    Examples:
        regent status
        regent status --watch
        regent status --cluster DefaultCluster -o json

    Args:
        watch: Refresh the output until you press Ctrl-C.
        interval: Seconds between two refreshes with --watch.
        cluster: Only broker groups of this cluster.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        while True:
            found = _read(client, cluster)
            if options.output == "json":
                print_json_line(found) if watch else print_json(found)
            else:
                _print(found)
            if not watch:
                break
            time.sleep(interval)
    if found["verdict"] != "healthy":
        raise CommandEnded(_CODES[found["verdict"]])


def _read(client: RestClient, cluster: str | None) -> Mapping[str, Any]:
    """Query the health; without an answer of the control plane it is unknown."""
    try:
        found: Mapping[str, Any] = client.get("/health", cluster_name=cluster)
    except CommandError as error:
        # A refusal, or a missing cluster name, is the user's error; any other failure means
        # unknown.
        if error.exit_code is not ExitCode.FAILED:
            raise
        sentence = f"The health is not known: {error.what}."
    else:
        return found
    return {
        "verdict": HealthVerdict.UNKNOWN,
        "sentence": sentence,
        "next_failure": None,
        "replica_count": None,
        "alive_count": None,
        "observed_at": None,
        "groups": [],
    }


def _print(found: Mapping[str, Any]) -> None:
    print_line(f"{found['verdict']}: {found['sentence']}")
    if found["verdict"] == "healthy" and found["next_failure"] is not None:
        print_line(found["next_failure"])
    groups = found["groups"]
    if not groups:
        return
    print_items(
        {
            "CLUSTER": "cluster_name",
            "BROKER GROUP": "broker_group_name",
            "HEALTH": "verdict",
            "ALIVE": lambda group: f"{group['alive_count']} of {group['replica_count']}",
            "WRITER": lambda group: {True: "yes", False: "no", None: "unknown"}[
                group["has_writer"]
            ],
            "MISSING": ("missing", _missing),
        },
        groups,
        title="",
    )
    troubled = [group for group in groups[1:] if group["verdict"] != "healthy"]
    for group in troubled:
        print_line(f"\n{group['verdict']}: {group['sentence']}")


def _missing(brokers: Sequence[Item]) -> str:
    return (
        joined(
            f"{one['name']} ({one['address']}, last heard {time_text(one['last_heard_at'])})"
            for one in brokers
        )
        or "none"
    )
