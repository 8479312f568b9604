"""Read lists page by page whose pages also name the brokers that did not tell."""

from collections.abc import Iterable, Mapping
from typing import Any

from backend.cli.output import print_line
from backend.cli.rest import RestClient

Items = list[dict[str, Any]]


def collect(
    client: RestClient, path: str, *, limit: int, page_size: int, **parameters: str | int | None
) -> tuple[Items, Items]:
    """Return the items of a list, up to a limit, and each broker that any page named unknown."""
    found: Items = []
    unknown: dict[str, dict[str, Any]] = {}
    after: str | None = None
    while len(found) < limit:
        size = min(limit - len(found), page_size)
        page = client.get(path, limit=size, after=after, **parameters)
        found += page["items"]
        unknown |= {one["address"]: one for one in page["unknown"]}
        after = page["next"]
        if after is None:
            break
    return found, list(unknown.values())


def collect_messages(
    client: RestClient, path: str, *, limit: int, page_size: int, **parameters: str | int | None
) -> dict[str, Any]:
    """Return messages up to a limit, whether there are more, and each broker named unknown.

    Pages of messages have no last one: the next page may have messages that are stored later.
    """
    found: Items = []
    unknown: dict[str, dict[str, Any]] = {}
    after, has_more = None, True
    while has_more and len(found) < limit:
        size = min(limit - len(found), page_size)
        page = client.get(path, limit=size, after=after, **parameters)
        found += page["items"]
        unknown |= {one["address"]: one for one in page["unknown"]}
        after, has_more = page["next"], page["has_more"]
    return {"messages": found, "has_more": has_more, "unknown": list(unknown.values())}


def print_unknown(unknown: Iterable[Mapping[str, Any]]) -> None:
    """Name the brokers that did not tell all that they were asked for."""
    for one in unknown:
        print_line(f"unknown: broker {one['name']} ({one['address']}): {one['why']}")
