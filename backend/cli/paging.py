"""Read a list page by page, and print it as a table or as data for programs.

A list command names its question, which is a path with parameters, and its columns.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from backend.cli.output import Columns, Item, print_items, print_json, print_line
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

ASKED_PAGE_SIZE: Final = 100
"""Largest page of a list for which the control plane queries brokers."""

Path = str | Callable[[RestClient], str]
"""A path, or a function that completes it, for example with the only cluster."""
Rows = Callable[[Item], Iterable[Item]]
"""Makes several rows of one item."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hold the items of a list, and each broker that a page names as unknown."""

    items: list[dict[str, Any]]
    unknown: list[dict[str, Any]]
    has_more: bool


def collect(
    client: RestClient,
    path: str,
    *,
    limit: int,
    page_size: int = ASKED_PAGE_SIZE,
    **parameters: Any,
) -> Found:
    """Return the items of a list from brokers, up to a limit."""
    items: list[dict[str, Any]] = []
    unknown: dict[str, dict[str, Any]] = {}
    has_more = False
    for page in client.pages(path, limit=limit, page_size=page_size, **parameters):
        items += page["items"]
        unknown |= {one["address"]: one for one in page["unknown"]}
        has_more = page.get("has_more", False)
    return Found(items, list(unknown.values()), has_more)


def messages_of(found: Found) -> dict[str, Any]:
    """Return messages as the data for programs."""
    return {"messages": found.items, "has_more": found.has_more, "unknown": found.unknown}


def ask(options: Options, path: Path, **parameters: Any) -> Any:
    """Return one resource."""
    with connect(options) as client:
        return client.get(_complete(client, path), **parameters)


def show_list(
    options: Options,
    path: Path,
    columns: Columns,
    *,
    limit: int,
    rows: Rows | None = None,
    **parameters: Any,
) -> None:
    """Print a list from the database of the control plane."""
    with connect(options) as client:
        found = list(client.list(_complete(client, path), limit=limit, **parameters))
    show_items(options, found, columns, rows=rows)


def show_asked_list(
    options: Options,
    path: Path,
    columns: Columns,
    *,
    name: str,
    limit: int,
    page_size: int = ASKED_PAGE_SIZE,
    **parameters: Any,
) -> None:
    """Print a list from brokers, and name the brokers that did not answer.

    `name` is the name of the items in the data for programs.
    """
    with connect(options) as client:
        path = _complete(client, path)
        found = collect(client, path, limit=limit, page_size=page_size, **parameters)
    if options.output == "json":
        print_json({name: found.items, "unknown": found.unknown})
        return
    print_items(columns, found.items)
    print_unknown(found.unknown)


def show_items(options: Options, found: Any, columns: Columns, *, rows: Rows | None = None) -> None:
    """Print one answer: a list or a single item."""
    if options.output == "json":
        print_json(found)
        return
    items = found if isinstance(found, list) else [found]
    print_items(columns, items if rows is None else (row for one in items for row in rows(one)))


def print_unknown(unknown: Iterable[Item]) -> None:
    """Name the brokers that did not answer completely."""
    for one in unknown:
        print_line(f"unknown: broker {one['name']} ({one['address']}): {one['why']}")


def _complete(client: RestClient, path: Path) -> str:
    return path if isinstance(path, str) else path(client)
