"""The command `regent events`: past events and new events."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from cyclopts import Parameter, validators

from backend.cli import event_stream
from backend.cli.clusters import ClusterName, Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.event_stream import newest_number
from backend.cli.output import (
    Columns,
    cells,
    pairs_text,
    print_items,
    print_json_line,
    print_line,
    time_text,
)
from backend.cli.rest import PAGE_SIZE, RestClient, connect
from backend.cli.target import Options

Number = Annotated[int | None, Parameter(validator=validators.Number(gte=0))]
Kinds = Annotated[list[str] | None, Parameter(name=["--kind"], negative="", consume_multiple=False)]

COLUMNS: Final[Columns] = {
    "NUMBER#": "number",
    "WHEN": ("happened_at", time_text),
    "KIND": "kind",
    "CLUSTER": "cluster_name",
    "SUBJECT": "subject",
    "DETAILS": ("details", pairs_text),
}


def list_or_follow(
    *,
    follow: bool = False,
    after: Number = None,
    cluster: ClusterName = None,
    kinds: Kinds = None,
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """Show events: elections, lost and returned brokers, operations and their steps.

    After a lost connection, the command connects again. It misses no event, and shows no event
    twice. With -o json, each event is one line.

    Examples:
        regent events
        regent events --after 1200 --limit 500
        regent events --follow --kind group --kind broker.lost -o json

    Args:
        follow: Print new events until you press Ctrl-C.
        after: Only events after this event number. Default: the newest events, or with --follow,
            new events.
        cluster: Only events of this cluster.
        kinds: Only events of this kind, or of this family: operation, step, group, broker, topic,
            finding. Repeatable.
        limit: Maximum number of events; ignored with --follow. Without --after, 200 is the largest
            value.
        options: Which server, and how to print.
    """
    chosen = {"cluster": cluster, "kinds": kinds}
    is_json = options.output == "json"
    if limit > PAGE_SIZE and after is None and not follow:
        raise CommandError(
            f"one request returns at most the newest {PAGE_SIZE} events",
            why="read older events by their numbers",
            next_step=f"regent events --after NUMBER --limit {limit}",
            exit_code=ExitCode.USAGE,
        )
    with connect(options) as client:
        if follow:
            begin = newest_number(client) if after is None else after
            for event in filter(None, event_stream.follow(client, begin, chosen)):
                if is_json:
                    print_json_line(event)
                else:
                    print_line("  ".join(str(cell) for cell in cells(COLUMNS, event)))
            return
        found = list(_pages(client, after, limit, chosen))
    if is_json:
        for event in found:
            print_json_line(event)
        return
    print_items(COLUMNS, found)


def _pages(
    client: RestClient, after: int | None, limit: int, chosen: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    if after is None:
        yield from client.get("/events", limit=limit, **chosen)["items"]
        return
    while limit > 0:
        page = client.get("/events", limit=min(limit, PAGE_SIZE), after=after, **chosen)
        yield from page["items"]
        limit -= len(page["items"])
        after = page["next_after"]
        if after == page["newest_number"]:
            return
