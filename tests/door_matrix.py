"""Say which use case is reached through which door: `python -m tests.door_matrix`.

Made from the routes, resolvers and commands there are: what the code of a route names is followed
through the modules of the HTTP door to functions of `backend.services`. The command line speaks
REST, so it reaches what a route reaches whose path it names. The table goes into docs/doors.md.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import backend.api.graphql
from backend.api.graphql.schema import build_schema
from backend.api.rest import build_router
from backend.questions import list_questions
from tests.access_table import _routes

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "doors.md"
BEGIN, END = "<!-- written by make matrix: begin -->\n", "<!-- end -->\n"
OURS, USE_CASES = ("backend.api", "backend.questions", "backend.views"), "backend.services"
SAFE = {"GET", "HEAD"}
EXCUSES = {
    "audit.export_entries": "the graph gives the audit page by page",
    "brokers.list_brokers": "the graph gives brokers by group",
    "capacity_rows.find_soonest_full_disk": "REST has the rows with their report",
    "capacity_rows.list_report_rows": "REST has the rows with their report",
    "clusters.take_census": "REST has the totals with each list",
    "replica_groups.describe_group": "the graph has it with the replica group",
    "sessions.sign_in": "a cookie is set by REST",
    "sessions.sign_out": "a cookie is taken by REST; the graph ends sessions by id",
}
"""Why a use case is not reached through each door; one that is may not stand here."""


def references(function: Callable) -> set[FunctionType]:
    """Give the functions of ours that a function of the HTTP door names, followed through it."""
    found: set[FunctionType] = set()
    waiting, seen = [inspect.unwrap(function)], set()
    while waiting:
        current = waiting.pop()
        if current in seen or not isinstance(current, FunctionType):
            continue
        seen.add(current)
        for named in _named(current):
            if named.__module__.startswith(OURS):
                waiting.append(named)
            elif named.__module__.startswith("backend."):
                found.add(named)
    return found


def _named(function: FunctionType) -> Iterator[FunctionType]:
    names = set(_names(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType):
            yield value
        elif isinstance(value, ModuleType) and value.__name__.startswith("backend."):
            members = (getattr(value, other, None) for other in names)
            yield from (one for one in members if isinstance(one, FunctionType))
        elif inspect.isclass(value) and value.__module__.startswith(OURS):
            yield from (one for one in vars(value).values() if isinstance(one, FunctionType))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def use_cases(functions: set[FunctionType]) -> set[FunctionType]:
    """Choose the public use cases: what is awaited, of the services."""
    return {
        one
        for one in functions
        if one.__module__.startswith(USE_CASES)
        and not one.__name__.startswith("_")
        and (inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one))
    }


@cache
def rest_routes() -> Mapping[tuple[str, str], set[FunctionType]]:
    """Give what each route reaches, by method and path."""
    return {
        (method, path): references(route.endpoint)
        for method, path, route in _routes(build_router())
    }


@cache
def graph_functions() -> set[FunctionType]:
    """Give what any function of the graph reaches."""
    found: set[FunctionType] = set()
    package = backend.api.graphql
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            members = vars(value).values() if inspect.isclass(value) else [value]
            for member in members:
                plain = getattr(member, "__func__", member)
                if isinstance(plain, FunctionType) and plain.__module__ == info.name:
                    found |= references(plain)
    found |= {one for question in list_questions() for one in references(question.ask)}
    return found | {one for field in _resolvers() for one in references(field)}


def _resolvers() -> Iterator[FunctionType]:
    for kind in build_schema()._schema.type_map.values():
        definition = kind.extensions.get("strawberry-definition") if kind.extensions else None
        for field in getattr(definition, "fields", ()):
            resolver = getattr(field, "base_resolver", None)
            if resolver is not None:
                yield resolver.wrapped_func


@cache
def mutations() -> Mapping[str, FunctionType]:
    """Give the resolver of each mutation by its name."""
    core = build_schema()._schema.mutation_type
    definition = core.extensions["strawberry-definition"]
    return {field.python_name: field.base_resolver.wrapped_func for field in definition.fields}


@cache
def cli_fragments() -> frozenset[str]:
    """Give every piece of a path that the command line's code writes."""
    found = set()
    for path in (ROOT / "backend" / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= (
                    set(re.findall(r"[a-z][a-z-]+", node.value)) if "/" in node.value else set()
                )
                # A verb of an operation is put behind its path by name.
                found |= {node.value} if re.fullmatch(r"[a-z-]+", node.value) else set()
    return frozenset(found)


def is_in_cli(path: str) -> bool:
    """Tell whether the command line names every fixed part of a route's path."""
    fixed = [part for part in path.strip("/").split("/") if "{" not in part]
    return set(fixed) <= cli_fragments()


def rows() -> list[tuple[str, list[str], bool, bool]]:
    """Give each use case that a door reaches: its routes, and whether the graph and CLI do."""
    routes = defaultdict(list)
    for (method, path), functions in rest_routes().items():
        for one in use_cases(functions):
            routes[one].append(f"{method} {path.removeprefix('/api/v1')}")
    in_graph = use_cases(graph_functions())
    found = []
    for one in {*routes, *in_graph}:
        name = f"{one.__module__.removeprefix(USE_CASES + '.')}.{one.__name__}"
        paths = sorted(routes[one])
        in_cli = any(is_in_cli(path.partition(" ")[2]) for path in paths)
        found.append((name, paths, one in in_graph, in_cli))
    return sorted(found)


def render() -> str:
    """Write the table."""
    lines = ["| use case | REST | graph | command line | why not |", "|---|---|---|---|---|"]
    for name, paths, in_graph, in_cli in rows():
        shown = paths if len(paths) < 4 else [f"{len(paths)} routes"]
        told = ", ".join(f"`{path}`" for path in shown)
        yes = {True: "yes", False: "no"}
        why = EXCUSES.get(name, "")
        lines.append(f"| `{name}` | {told} | {yes[in_graph]} | {yes[in_cli]} | {why} |")
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Give the page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, "the page has both marks"
    return f"{before}{BEGIN}\n{render()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
