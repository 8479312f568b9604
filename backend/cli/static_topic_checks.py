"""The command `regent topic static check`."""

from collections.abc import Mapping
from typing import Any

from backend.cli.clusters import ClusterName, in_cluster
from backend.cli.errors import CommandEnded, ExitCode
from backend.cli.output import print_json, print_line
from backend.cli.paging import ask
from backend.cli.target import Options


def check_static_topic(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Compare what Postgres, all brokers and all name servers hold of a static topic.

    Each difference names the broken invariant, its place and the next step. The exit code 0 means
    that there is no difference, and 10 that there is one. The exit code 12 means that no difference
    was found, but a broker group or a name server did not answer.

    Examples:
        regent topic static check orders
        regent topic static check orders -o json

    Args:
        name: Name of the topic.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    found = ask(options, in_cluster(cluster, "topics", name, "logical-queues", "check"))
    if options.output == "json":
        print_json(found)
    else:
        _print(found)
    if found["differences"]:
        raise CommandEnded(ExitCode.DEGRADED)
    if found["not_compared"]:
        raise CommandEnded(ExitCode.HEALTH_UNKNOWN)


def _print(found: Mapping[str, Any]) -> None:
    for one in found["differences"]:
        print_line(f"{one['name']}: {one['where']}: {one['what']} ({one['rule']})")
        print_line(f"    {one['next_step']}")
    for one in found["not_compared"]:
        print_line(f"not compared: {one['name']}: {one['why']}")
    if found["sound"]:
        print_line(f"nothing differs in epoch {found['epoch']}")
    if found["changing"]:
        print_line("a change is unfinished: routes and epochs were not compared")
