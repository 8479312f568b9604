"""The commands `regent client …`: the producers and consumers that are connected."""

from typing import Annotated, Any, Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.group_views import age_text
from backend.cli.output import print_json, print_line, print_table
from backend.cli.paging import collect, print_unknown
from backend.cli.rest import connect, segment
from backend.cli.target import Options
from backend.cli.words import WORDS
from backend.domain.client import ClientRole

PAGE_SIZE: Final = 500

client = App(name=["client", "clients"], help="Show connected producers and consumers.")

Role = Annotated[ClientRole | None, WORDS]


@client.command(name="list")
def list_clients(
    *,
    group: str | None = None,
    role: Role = None,
    search: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the clients that are connected to brokers now.

    HEARD is the time since the last heartbeat that a broker received. RocketMQ brokers report HEARD
    only for producers.

    Examples:
        regent client list
        regent client list --group billing
        regent client list --role producer -o json

    Args:
        group: Only clients of this producer or consumer group.
        role: Only producers, or only consumers.
        search: Only clients whose id contains this text.
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of clients.
        options: Which server, and how to print.
    """
    with connect(options) as rest:
        path = f"/clusters/{segment(choose_cluster(rest, cluster))}/clients"
        found, unknown = collect(
            rest, path, limit=limit, page_size=PAGE_SIZE, group=group, role=role, search=search
        )
    if options.output == "json":
        print_json({"clients": found, "unknown": unknown})
        return
    print_table(
        ("CLIENT", "ADDRESS", "LANGUAGE", "VERSION", "PRODUCES IN", "CONSUMES IN", "HEARD#"),
        [_row(one) for one in found],
    )
    print_unknown(unknown)


@client.command(name=["get", "show"])
def get_client(
    client_id: str,
    /,
    *,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Show a client and its connections to brokers.

    Example:
        regent client get 10.0.0.7@412

    Args:
        client_id: Id of the client.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    with connect(options) as rest:
        path = f"/clusters/{segment(choose_cluster(rest, cluster))}/clients/{segment(client_id)}"
        found = rest.get(path)
    if options.output == "json":
        print_json(found)
        return
    print_line(f"{found['client_id']}  {', '.join(found['roles']) or 'in no group'}")
    print_table(
        ("BROKER", "ADDRESS", "FROM", "VERSION", "PRODUCES", "CONSUMES", "HEARD#"),
        [
            (
                one["broker_name"],
                one["broker_address"],
                one["address"],
                f"{one['language']} {one['version_name'] or one['version']}",
                ", ".join(one["producer_groups"]),
                ", ".join(one["consumer_groups"]),
                age_text(one["heard_ms"]),
            )
            for one in found["connections"]
        ],
        title="\nConnections",
    )
    print_unknown(found["unknown"])


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    first = one["connections"][0]
    return (
        one["client_id"],
        first["address"],
        first["language"],
        first["version_name"] or first["version"],
        ", ".join(one["producer_groups"]),
        ", ".join(one["consumer_groups"]),
        age_text(one["heard_ms"]),
    )
