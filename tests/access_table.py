"""List who may request what, through every door: `python -m tests.access_table`.

The table is made from the routes, the fields and their rules; it goes into docs/access.md between
two marks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from uuid import UUID

from fastapi.routing import APIRoute

from backend.api import permissions
from backend.api.graphql import guard
from backend.api.graphql.schema import build_schema
from backend.api.rest import list_routes
from backend.domain.access import RULES, Credential, Permission, Principal, Reach, require
from backend.domain.access_errors import PasswordChangeRequired
from backend.domain.errors import Forbidden
from backend.domain.user import Role
from tests.marked_regions import rewritten_region

PAGE = Path(__file__).resolve().parents[1] / "docs" / "access.md"
BEGIN, END = "<!-- written by make access: begin -->\n", "<!-- end -->\n"
SIGN_IN = ("POST", "/api/v1/session")
KINDS = ("session", "token", "read-only token")
CALLERS = tuple(product(KINDS, Role))


@dataclass(frozen=True, slots=True)
class Door:
    """A target of a request: a route of REST, or a field of one of the graph's roots."""

    method: str
    name: str
    permission: Permission
    reach: str

    @property
    def text(self) -> str:
        return f"`{self.method} {self.name}`"


def rest_doors() -> list[Door]:
    """Give every route except the one that signs in."""
    found = [
        _rest_door(method, path, route)
        for method, path, route in _routes(list_routes())
        if (method, path) != SIGN_IN
    ]
    return sorted(found, key=lambda door: (door.name, door.method))


def _rest_door(method: str, path: str, route: APIRoute) -> Door:
    permission = permissions.permission_of(route.endpoint, method)
    names_one = permissions.CLUSTER_NAMES & {
        *route.param_convertors,
        *permissions.query_names(route),
        *(part.strip("{}") for part in path.split("/")),
    }
    reach = permissions.reach_of(route.endpoint, permission)
    return Door(method, path, permission, _reach_text(reach, permission, names_one=bool(names_one)))


def _reach_text(reach: Reach, permission: Permission, *, names_one: bool) -> str:
    if RULES[permission].needs_all_clusters or (reach is Reach.NAMED and not names_one):
        return "all"
    return reach.value.replace("_", " ")


def graph_doors() -> list[Door]:
    """Give every field of the roots."""
    schema = build_schema()._schema
    found = []
    for root in (schema.query_type, schema.mutation_type, schema.subscription_type):
        for name, field in root.fields.items():
            permission = guard.permission_of(name, is_mutation=root is schema.mutation_type)
            reach = guard.reach_of(name, permission)
            names_one = name in guard.OBJECTS or guard.CLUSTER_ARGUMENTS & set(field.args)
            text = _reach_text(reach, permission, names_one=bool(names_one))
            found.append(Door(root.name.lower(), name, permission, text))
    return found


def is_allowed(kind: str, role: Role, permission: Permission) -> bool:
    """Return whether the rules let a kind of caller pass."""
    credential = Credential.SESSION if kind == "session" else Credential.TOKEN
    principal = Principal(
        user_id=1,
        user_name="anna",
        role=role,
        credential=credential,
        credential_id=UUID(int=1),
        expires_at=datetime(2026, 1, 1, tzinfo=UTC),
        is_read_only=kind == "read-only token",
    )
    try:
        require(principal, permission)
    except (Forbidden, PasswordChangeRequired):
        return False
    return True


def render() -> str:
    """Write the table."""
    heads = [f"{kind}: {role}" for kind, role in CALLERS]
    lines = [
        f"| asks for | permission | clusters | {' | '.join(heads)} |",
        f"|---|---|---|{'---|' * len(heads)}",
    ]
    for door in (*rest_doors(), *graph_doors()):
        cells = ["yes" if is_allowed(*who, door.permission) else "no" for who in CALLERS]
        told = " | ".join((door.text, door.permission, door.reach, *cells))
        lines.append(f"| {told} |")
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Give the page with the present table."""
    return rewritten_region(page, f"\n{render()}\n", begin=BEGIN, end=END)


def _routes(routes) -> Iterator[tuple[str, str, APIRoute]]:
    for route in routes:
        yield from ((method, route.path, route) for method in route.methods)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
