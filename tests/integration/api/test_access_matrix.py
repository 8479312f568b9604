"""Role x door x credential: every answer follows the rules (I23, G13)."""

import httpx
import pytest
from graphql import (
    get_named_type,
    is_composite_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
)

from backend.api.graphql.schema import build_schema
from backend.domain.user import Role
from tests.access_table import CALLERS, graph_doors, is_allowed, rest_doors
from tests.integration.api.access import fill
from tests.long_form import chosen

WITHOUT = ("nothing", "expired session", "expired token", "session of a disabled user")
SCALARS = {"ID": '"00000000-0000-0000-0000-000000000000"', "Int": "1", "Int64": '"1"'}
SCALARS |= {"Boolean": "false", "String": '"nobody"'}
ROOTS = {"query": "query_type", "mutation": "mutation_type"}
ENDING = {"/api/v1/session", "/api/v1/sessions", "endSessions"}

every_caller = pytest.mark.parametrize(
    ("kind", "role"),
    chosen(
        CALLERS,
        *(("session", Role.VIEWER), ("session", Role.ADMIN)),
        *(("token", Role.OPERATOR), ("read-only token", Role.ADMIN)),
    ),
)


@every_caller
async def test_every_route_answers_the_users_that_the_rules_allow(
    bare_client, credentials, kind, role
):
    wrong = {}
    headers = await credentials(kind, role)

    for door in rest_doors():
        answer = await bare_client.request(door.method, fill(door.name), json={}, headers=headers)
        if (answer.status_code != 403) is not is_allowed(kind, role, door.permission):
            wrong[door.text] = answer.text
        assert answer.status_code != 401, door
        assert answer.status_code < 500, (door, answer.text)
        if door.name in ENDING:
            headers = await credentials(kind, role)

    assert wrong == {}


@every_caller
async def test_every_field_answers_the_users_that_the_rules_allow(
    bare_client, credentials, kind, role
):
    wrong = {}
    headers = await credentials(kind, role)

    for door in graph_doors():
        # What is followed needs a WebSocket: see test_access.py.
        if door.method not in ROOTS:
            continue
        body = {"query": question(door)}
        answer = (await bare_client.post("/graphql", json=body, headers=headers)).json()
        codes = {error["extensions"]["code"] for error in answer.get("errors", [])}
        if ("forbidden" not in codes) is not is_allowed(kind, role, door.permission):
            wrong[door.text] = answer
        assert not codes & {"unauthenticated", "internal", "unavailable"}, (door, answer)
        if door.name in ENDING:
            headers = await credentials(kind, role)

    assert wrong == {}


@pytest.mark.parametrize("kind", WITHOUT)
async def test_a_request_without_a_valid_credential_is_refused(bare_client, credentials, kind):
    headers = await credentials(kind, Role.ADMIN)
    statuses = {}

    for door in rest_doors():
        answer = await bare_client.request(door.method, fill(door.name), json={}, headers=headers)
        statuses[door.text] = answer.status_code
    for door in graph_doors():
        body = {"query": f"{door.method} {{ {door.name} }}"}
        answer = await bare_client.post("/graphql", json=body, headers=headers)
        statuses[door.text] = answer.status_code

    assert set(statuses.values()) == {httpx.codes.UNAUTHORIZED}


async def test_no_page_of_another_origin_changes_anything_with_a_cookie(bare_client, credentials):
    headers = await credentials("session", Role.ADMIN)
    passed = []

    for origin in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        for door in rest_doors():
            if door.method == "GET":
                continue
            sent = headers | origin
            answer = await bare_client.request(door.method, fill(door.name), json={}, headers=sent)
            if answer.status_code != 403 or "another origin" not in answer.text:
                passed.append(door)
        body = {"query": "mutation { requestCapacityReport { id } }"}
        answer = await bare_client.post("/graphql", json=body, headers=headers | origin)
        assert answer.status_code == 403

    assert passed == []
    assert (await bare_client.get("/api/v1/session", headers=headers)).status_code == 200


def question(door):
    """Ask for a field in a form that is valid, whatever its arguments mean."""
    field = getattr(build_schema()._schema, ROOTS[door.method]).fields[door.name]
    given = [
        f"{name}: {literal(argument.type)}"
        for name, argument in field.args.items()
        if is_required_argument(argument)
    ]
    arguments = f"({', '.join(given)})" if given else ""
    selection = "{ __typename }" if is_composite_type(get_named_type(field.type)) else ""
    return f"{door.method} {{ {door.name}{arguments} {selection} }}"


def literal(kind):
    kind = getattr(kind, "of_type", kind)
    if is_list_type(kind):
        return "[]"
    if is_enum_type(kind):
        return next(iter(kind.values))
    if not is_input_object_type(kind):
        return SCALARS[kind.name]
    needed = {n: f for n, f in kind.fields.items() if is_required_input_field(f)}
    # Of an input of which exactly one is given, the first.
    chosen = needed or dict([next(iter(kind.fields.items()))])
    return "{" + ", ".join(f"{n}: {literal(f.type)}" for n, f in chosen.items()) + "}"
