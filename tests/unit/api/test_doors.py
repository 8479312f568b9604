"""No door changes a cluster past the engine, and every kind of operation has all doors (D19)."""

from inspect import iscoroutinefunction

from fastapi.routing import APIRoute

from backend.api.context import get_context, get_principal, get_scope
from backend.api.graphql.guard import PERMISSIONS
from backend.api.graphql.router import build_router as build_graph_router
from backend.api.graphql.schema import build_schema
from backend.api.known_parameters import check_parameters
from backend.api.permissions import check_permission
from backend.api.rest import list_routes
from backend.cli.app import find_command
from backend.domain.access import Permission
from backend.operations.engine.known_kinds import KINDS
from tests.cli_help import commands

READING = {
    Permission.IDENTIFY,
    Permission.READ,
    Permission.READ_ACCESS,
    Permission.READ_BODIES,
}
SAFE = {"GET", "HEAD"}
# They change no setting of a cluster: who may sign in and is, a report to read, a message.
NOT_OF_A_CLUSTER = (
    "/api/v1/session",
    "/api/v1/tokens",
    "/api/v1/users",
    "/api/v1/capacity/reports",
    "/api/v1/messages",
)
OF_ACCESS = {name for name, needed in PERMISSIONS.items() if needed not in READING}


def test_every_route_that_changes_something_is_one_of_operations():
    changing = {route.path for route in list_routes() if route.methods - SAFE}

    others = {path for path in changing if not path.startswith("/api/v1/operations")}
    assert {path for path in others if not path.startswith(NOT_OF_A_CLUSTER)} == set()
    assert len(changing) > len(others)


def test_every_route_but_that_which_signs_in_asks_for_a_permission():
    def is_guarded(route):
        first = [one.call for one in route.dependant.dependencies[:2]]
        return first == [check_permission, check_parameters]

    unguarded = [route for route in list_routes() if not is_guarded(route)]

    assert [(route.methods, route.path) for route in unguarded] == [({"POST"}, "/api/v1/session")]


def test_every_mutation_of_a_cluster_gives_an_operation():
    mutation = build_schema()._schema.mutation_type
    given = {name: str(field.type) for name, field in mutation.fields.items()}

    assert given.pop("requestCapacityReport") == "CapacityReport!"
    assert given.pop("sendMessage") == "SentMessage!"
    assert given.keys() >= OF_ACCESS
    assert {kind for name, kind in given.items() if name not in OF_ACCESS} == {"Operation!"}


def test_every_kind_can_be_ordered_by_a_command():
    ordered = {getattr(find_command(path).default_command, "kind", None) for path in commands()}

    assert ordered - {None} == {*KINDS, "send_message"}


def test_what_routes_depend_on_runs_on_the_loop():
    # A plain function would wait for a thread, and for the interpreter, before each request.
    def functions(dependant):
        for one in dependant.dependencies:
            yield one.call
            yield from functions(one)

    graph = build_graph_router("/graphql", allowed_origins=())
    routes = [*list_routes(), *graph.routes]
    found = {
        call
        for route in routes
        if isinstance(route, APIRoute)
        for call in functions(route.dependant)
    }

    assert {get_context, get_principal, get_scope} <= found
    assert {call for call in found if not iscoroutinefunction(call)} == set()
