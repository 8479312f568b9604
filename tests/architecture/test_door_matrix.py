"""Every use case has its doors, and changes of a cluster go through the engine (G1, G9, D19)."""

import pytest

from tests.access_table import SIGN_IN, graph_doors, rest_doors
from tests.door_matrix import (
    EXCUSES,
    PAGE,
    SAFE,
    graph_functions,
    mutations,
    references,
    rest_routes,
    rewritten,
    rows,
    use_cases,
)

ENGINE = tuple(
    f"backend.services.operations.{name}" for name in ("orders", "approvals", "following", "leases")
)
OF_NO_CLUSTER = {
    "backend.services.users": "who may sign in",
    "backend.services.sessions": "who is signed in",
    "backend.services.api_tokens": "what programs sign in with",
    "backend.services.capacity": "a report is read from history",
    "backend.services.sent_messages": "a message is data, whose body no journal may keep",
}
"""Modules whose use cases change something that is no setting of a cluster, and what."""
READERS = {"find_principal", "describe_operation", "find_moved_fact", "find_following"}
CHANGING = [
    *((f"{method} {path}", found) for (method, path), found in rest_routes().items()
      if method not in SAFE),
    *((f"mutation {name}", references(resolver)) for name, resolver in mutations().items()),
]  # fmt: skip


@pytest.mark.parametrize(("door", "functions"), CHANGING, ids=[door for door, _ in CHANGING])
def test_what_changes_a_cluster_goes_through_the_engine(door, functions):
    called = {one for one in use_cases(functions) if one.__name__ not in READERS}
    outside = {one.__module__ for one in called if one.__module__ not in ENGINE}

    assert called, f"{door} calls no use case that can be seen: name it, not through a variable"
    assert outside <= set(OF_NO_CLUSTER), (
        f"{door} goes past the engine: order an operation (services/operations/orders.py),"
        " or say in OF_NO_CLUSTER what it changes"
    )


@pytest.mark.parametrize(("door", "functions"), CHANGING, ids=[door for door, _ in CHANGING])
def test_no_door_that_changes_something_writes_by_itself(door, functions):
    below = {
        f"{one.__module__}.{one.__name__}"
        for one in functions
        if one.__module__.startswith(("backend.db", "backend.clients"))
    }

    assert below == set(), f"{door} skips the services"


def test_every_door_is_looked_at():
    seen = {(method, path) for method, path in rest_routes()}
    changing = {door.name for door in graph_doors() if door.method == "mutation"}

    assert {(door.method, door.name) for door in rest_doors()} | {SIGN_IN} == seen
    assert len(mutations()) == len(changing) > 10
    assert len(use_cases(graph_functions())) > 40


def test_every_use_case_is_reached_through_rest_the_graph_and_the_command_line():
    holes = {name for name, paths, *doors in rows() if not (paths and all(doors))}

    assert holes - set(EXCUSES) == set(), (
        "add the missing door, or say in tests/door_matrix.py why there is none"
    )
    assert set(EXCUSES) - holes == set(), "these have all doors now: take the excuse out"


def test_the_page_says_what_the_doors_reach():
    page = PAGE.read_text()

    assert rewritten(page) == page, "run `make matrix`"
