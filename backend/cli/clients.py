"""The commands `regent client …`: the producers and consumers that are connected."""

from typing import Annotated, Final

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit, in_cluster
from backend.cli.group_views import version_text
from backend.cli.output import age_text, joined, print_items, print_json, print_line
from backend.cli.paging import ask, print_unknown, show_asked_list
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
    show_asked_list(
        options,
        in_cluster(cluster, "clients"),
        {
            "CLIENT": "client_id",
            "ADDRESS": lambda one: one["connections"][0]["address"],
            "LANGUAGE": lambda one: one["connections"][0]["language"],
            "VERSION": lambda one: version_text(one["connections"][0]),
            "PRODUCES IN": ("producer_groups", joined),
            "CONSUMES IN": ("consumer_groups", joined),
            "HEARD#": ("heard_ms", age_text),
        },
        name="clients",
        limit=limit,
        page_size=PAGE_SIZE,
        group=group,
        role=role,
        search=search,
    )


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
    found = ask(options, in_cluster(cluster, "clients", client_id))
    if options.output == "json":
        print_json(found)
        return
    print_line(f"{found['client_id']}  {joined(found['roles']) or 'in no group'}")
    print_items(
        {
            "BROKER": "broker_name",
            "ADDRESS": "broker_address",
            "FROM": "address",
            "VERSION": lambda one: f"{one['language']} {version_text(one)}",
            "PRODUCES": ("producer_groups", joined),
            "CONSUMES": ("consumer_groups", joined),
            "HEARD#": ("heard_ms", age_text),
        },
        found["connections"],
        title="\nConnections",
    )
    print_unknown(found["unknown"])
