"""Without a sign-in there is no answer, through any present or future route."""

import json

import httpx
import pytest
from starlette.routing import Route, WebSocketRoute

from backend.api.app import print_openapi
from backend.api.graphql.schema import build_schema
from tests.integration.api.access import fill

# Every route that is open, by method; adding one here is a decision.
OPEN = {
    ("POST", "/api/v1/session"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/{path:path}"),
    ("HEAD", "/{path:path}"),
}


def routes_of(app):
    found = set()
    pending = [("", route) for route in app.router.routes]
    while pending:
        prefix, route = pending.pop()
        if isinstance(route, Route):
            # A route to a whole application, as the graph is, takes every method.
            methods = route.methods or {"GET", "POST", "PUT", "PATCH", "DELETE"}
            found |= {(method, prefix + route.path) for method in methods}
        elif isinstance(route, WebSocketRoute):
            found.add(("WEBSOCKET", prefix + route.path))
        elif hasattr(route, "original_router"):
            below = prefix + route.include_context.prefix
            pending += [(below, inner) for inner in route.original_router.routes]
        else:
            raise AssertionError(f"a kind of route that this test does not know: {route!r}")
    return found


async def test_every_route_is_closed_but_those_named_here(app, stranger):
    open_routes = set()

    for method, path in routes_of(app):
        if method == "WEBSOCKET":
            continue
        answer = await stranger.request(method, fill(path), json={})
        if answer.status_code != httpx.codes.UNAUTHORIZED:
            open_routes.add((method, path))

    assert open_routes == OPEN


def test_the_openapi_document_that_is_committed_is_the_application_s(app):
    assert json.loads(json.dumps(app.openapi())) == json.loads(print_openapi())


async def test_the_openapi_document_names_no_path_that_is_open(app, stranger):
    for path, operations in app.openapi()["paths"].items():
        for method in operations:
            if (method.upper(), path) in OPEN:
                continue
            answer = await stranger.request(method, fill(path), json={})
            assert answer.status_code == 401, (method, path)
            assert answer.json()["code"] == "unauthenticated"


async def test_every_operation_of_the_graph_is_closed(stranger):
    schema = build_schema()._schema

    for kind in (schema.query_type, schema.mutation_type, schema.subscription_type):
        for name in kind.fields:
            query = f"{kind.name.lower()} {{ {name} }}"
            answer = await stranger.post("/graphql", json={"query": query})
            assert answer.status_code == 401
            assert answer.json()["errors"][0]["extensions"]["code"] == "unauthenticated"


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/v1/nothing", "/api/v1/openapi.json", "/graphql/", "/api/v2/x"]
)
async def test_what_does_not_exist_is_closed_too(stranger, path):
    assert (await stranger.get(path)).status_code == 401


@pytest.mark.parametrize("path", ["/graphql", "/", "/topics", "/session", "/healthz"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_nothing_can_be_written_without_a_session(stranger, method, path):
    assert (await stranger.request(method, path, json={})).status_code == 401


@pytest.mark.parametrize(
    "authorization", ["Bearer wrong", "Bearer ", "Basic YWRtaW46eA==", "Bearer " + "x" * 5_000]
)
async def test_a_wrong_token_opens_nothing(stranger, authorization):
    answer = await stranger.get("/api/v1/clusters", headers={"Authorization": authorization})

    assert answer.status_code == 401


async def test_readiness_shows_nothing_of_the_cluster(stranger, register):
    await register(topics=["orders"])

    assert (await stranger.get("/readyz")).json() == {"ready": True}
