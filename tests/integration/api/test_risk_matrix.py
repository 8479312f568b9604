"""Role x credential x risk class x door: who has what go on, with no hole (G13, D26)."""

from itertools import product
from uuid import UUID

import pytest
from sqlalchemy import update

from backend.db.operation_tables import operation_steps, operations
from backend.domain.plan import Risk
from backend.domain.user import Role
from tests.access_table import CALLERS
from tests.integration.api.ordering import LOSS, OPS
from tests.long_form import few

ORDERS = {
    Risk.SMALL: ("prefer_master", {"broker_id": 2}),
    Risk.SERVICE: ("elect_master", {"broker_id": 2}),
    Risk.LOSS: ("forget_replicas", {"broker_ids": [3]}),
}
CONFIRMED_BY = {
    Role.VIEWER: set(),
    Role.OPERATOR: {Risk.SMALL, Risk.SERVICE},
    Role.ADMIN: {Risk.SMALL, Risk.SERVICE, Risk.LOSS},
}
GRAPH = {
    "confirm": """mutation ($id: ID!) { confirmOperation(
      id: $id, given: {typedName: "g", reason: "planned work", acceptsLoss: true}) { state } }""",
    "resume": "mutation ($id: ID!) { resumeOperation(id: $id) { state } }",
    "retry": "mutation ($id: ID!) { retryOperation(id: $id) { state } }",
}
BEFORE = {"confirm": "planned", "resume": "paused", "retry": "partly"}


async def over_rest(caller, verb, operation_id, headers):
    path = f"{OPS}/{operation_id}/{verb}"
    answer = await caller.post(path, json=LOSS, headers=headers)
    return answer.status_code != 403, answer


async def over_the_graph(caller, verb, operation_id, headers):
    body = {"query": GRAPH[verb], "variables": {"id": operation_id}}
    answer = await caller.post("/graphql", json=body, headers=headers)
    errors = answer.json().get("errors", [])
    return "forbidden" not in {one["extensions"]["code"] for one in errors}, answer


@pytest.fixture
def prepare(plan, act, database):
    """Give an operation that waits for a verb."""

    async def make(risk, verb):
        kind, parameters = ORDERS[risk]
        planned = await plan(kind, **parameters)
        assert planned["plan"]["risk"] == risk
        if verb != "confirm":
            await act(planned, "confirm", LOSS)
            await act(planned, "pause")
        if verb == "retry":
            await stop(planned, database)
        return planned

    return make


async def stop(operation, database, *, state="partly", step="unknown"):
    """Write that an operation has ended so, all of whose steps stand so."""
    ours = UUID(operation["id"])
    ended = update(operations).where(operations.c.id == ours)
    stood = update(operation_steps).where(operation_steps.c.operation_id == ours)
    async with database.begin() as connection:
        await connection.execute(ended.values(state=state, outcome="stopped", not_before=None))
        await connection.execute(stood.values(state=step))


@pytest.mark.parametrize(
    ("risk", "verb", "door"), few(product(ORDERS, BEFORE, [over_rest, over_the_graph]), 6)
)
@pytest.mark.usefixtures("f3")
async def test_each_role_has_go_on_what_its_risk_classes_are(
    client, bare_client, credentials, prepare, act, door, verb, risk
):
    wrong, held = {}, None
    for kind, role in CALLERS:
        # One that went on is no longer there for the next caller; one that was refused is.
        held = held or await prepare(risk, verb)
        headers = await credentials(kind, role)

        passed, answer = await door(bare_client, verb, held["id"], headers)

        expected = kind != "read-only token" and risk in CONFIRMED_BY[role]
        state = (await client.get(f"{OPS}/{held['id']}")).json()["state"]
        if (passed, state) != (expected, "queued" if expected else BEFORE[verb]):
            wrong[kind, role] = (state, answer.text)
        if state != BEFORE[verb]:
            await act(held, "cancel")
            held = None

    assert wrong == {}


def test_every_risk_class_and_role_is_in_the_matrix():
    # What only looks (R0) is no operation: see test_access_matrix.py.
    assert set(ORDERS) == set(Risk) - {risk for risk in Risk if risk == "R0"}
    assert set(CONFIRMED_BY) == set(Role)
