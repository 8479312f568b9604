"""The command `regent events`: what has happened, and what happens now."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import httpx
from cyclopts import Parameter, validators

from backend.cli.clusters import ClusterName, Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import print_json_line, print_line, print_table, time_text
from backend.cli.reader import print_note
from backend.cli.rest import PAGE_SIZE, RestClient, connect
from backend.cli.target import Options

RETRY_DELAY_S: float = 1.0
_ENDS_FOR_GOOD: Final = {"unauthenticated": ExitCode.NOT_ALLOWED}

Number = Annotated[int | None, Parameter(validator=validators.Number(gte=0))]
Kinds = Annotated[list[str] | None, Parameter(name=["--kind"], negative="", consume_multiple=False)]


def list_or_follow(
    *,
    follow: bool = False,
    after: Number = None,
    cluster: ClusterName = None,
    kinds: Kinds = None,
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """Show what has happened: elections, brokers lost and back, operations and their steps.

    A lost connection is resumed, and no event is missed or shown twice. With -o json each event is
    one line.

    Examples:
        regent events
        regent events --after 1200 --limit 500
        regent events --follow --kind group --kind broker.lost -o json

    Args:
        follow: Go on with what comes, until Ctrl-C.
        after: Only events behind this number; without it the newest, or those from now on.
        cluster: Only of this cluster.
        kinds: Only this kind, or this family: operation, step, group, broker, finding. Repeatable.
        limit: How many at most, unless they are followed.
        options: Which server, and how to print.
    """
    chosen = {"cluster": cluster, "kinds": kinds}
    is_json = options.output == "json"
    with connect(options) as client:
        if follow:
            for event in _follow(client, after, chosen):
                if is_json:
                    print_json_line(event)
                else:
                    print_line("  ".join(str(cell) for cell in _row(event)))
            return
        found = list(_pages(client, after, limit, chosen))
    if is_json:
        for event in found:
            print_json_line(event)
        return
    print_table(("NUMBER#", "WHEN", "KIND", "CLUSTER", "SUBJECT", "DETAILS"), map(_row, found))


def _pages(
    client: RestClient, after: int | None, limit: int, chosen: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    if after is None:
        yield from client.get("/events", limit=min(limit, PAGE_SIZE), **chosen)["items"]
        return
    while limit > 0:
        page = client.get("/events", limit=min(limit, PAGE_SIZE), after=after, **chosen)
        yield from page["items"]
        limit -= len(page["items"])
        after = page["next_after"]
        if after == page["newest_number"]:
            return


def _follow(
    client: RestClient, after: int | None, chosen: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    position = client.get("/events", limit=1)["newest_number"] if after is None else after
    while True:
        try:
            with client.stream("/events", after=position, **chosen) as lines:
                for number, event in _messages(lines):
                    position = number
                    if event is not None:
                        yield event
        except httpx.HTTPError as error:
            print_note(f"connection lost ({error or type(error).__name__}), resuming")
        time.sleep(RETRY_DELAY_S)


def _messages(lines: Iterator[str]) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
    """Read server-sent events: each number with its event, or alone.

    Raises:
        CommandError: the stream has ended for good.
    """
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        if fields.get("event") == "end":
            _note_end(json.loads(fields["data"]))
            return
        if "id" in fields:
            data = fields.get("data")
            yield int(fields["id"]), None if data is None else json.loads(data)
        fields = {}


def _note_end(told: Mapping[str, Any]) -> None:
    exit_code = _ENDS_FOR_GOOD.get(told["code"])
    if exit_code is not None:
        raise CommandError(
            "the stream has ended",
            why=told["message"],
            next_step="regent login",
            exit_code=exit_code,
        )
    print_note(f"{told['message']}, resuming")


def _row(event: Mapping[str, Any]) -> tuple[object, ...]:
    details = ", ".join(f"{name}={value}" for name, value in event["details"].items())
    return (
        event["number"],
        time_text(event["happened_at"]),
        event["kind"],
        event["cluster_name"],
        event["subject"],
        details,
    )
