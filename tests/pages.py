"""List every page: GET requests of the OpenAPI document, queries of the console."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from graphql import OperationDefinitionNode, OperationType, parse, print_ast

CONSOLE: Final = Path(__file__).resolve().parents[1] / "frontend" / "src"
LEFT_OUT: Final = {
    "/api/v1/audit/export": "writes all there is",
    "/api/v1/capacity/reports/{report_id}": "there is no report",
    "CapacityReport": "there is no report",
}


@dataclass(frozen=True, slots=True)
class Page:
    """One requested page."""

    name: str
    path: str
    query: dict[str, Any] | None = None


def rest_pages(document: dict[str, Any], known: dict[str, str]) -> list[Page]:
    """List the pages of an OpenAPI document; the values of paths and queries must be known."""
    pages = []
    for path, methods in sorted(document["paths"].items()):
        if "get" not in methods or path in LEFT_OUT:
            continue
        needed = [one for one in methods["get"].get("parameters", []) if one.get("required")]
        query = {one["name"]: known[one["name"]] for one in needed if one["in"] == "query"}
        filled = re.sub(r"\{(\w+)\}", lambda match: known[match[1]], path)
        pages.append(Page(path, str(httpx.URL(filled, params=query))))
    return pages


def console_queries(known: dict[str, Any]) -> list[Page]:
    """List the queries of the console's pages with the fragments they use."""
    source = "\n".join(path.read_text() for path in sorted(CONSOLE.rglob("*.graphql")))
    document = parse(source)
    fragments = {
        node.name.value: node
        for node in document.definitions
        if not isinstance(node, OperationDefinitionNode)
    }
    pages = []
    for node in document.definitions:
        if not isinstance(node, OperationDefinitionNode) or not node.name:
            continue
        if node.operation is not OperationType.QUERY or node.name.value in LEFT_OUT:
            continue
        text, names = (
            print_ast(node),
            [one.variable.name.value for one in node.variable_definitions or ()],
        )
        for name in _fragments_of(text, fragments):
            text += "\n" + print_ast(fragments[name])
        needed = {name: known[name] for name in names if name in known}
        query = {"query": text, "variables": needed}
        pages.append(Page(node.name.value, "/graphql", query))
    return pages


def _fragments_of(text: str, fragments: dict[str, Any]) -> list[str]:
    found: list[str] = []
    waiting = re.findall(r"\.\.\.(\w+)", text)
    while waiting:
        name = waiting.pop()
        if name in fragments and name not in found:
            found.append(name)
            waiting += re.findall(r"\.\.\.(\w+)", print_ast(fragments[name]))
    return found
