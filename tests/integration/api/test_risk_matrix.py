"""Role x credential x risk class x door: who confirms what, with no hole (G13, D26)."""

import pytest

from backend.domain.plan import Risk
from backend.domain.user import Role
from tests.access_table import CALLERS
from tests.integration.api.ordering import LOSS, OPS

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
CONFIRM = """mutation ($id: ID!) { confirmOperation(
  id: $id, given: {typedName: "g", reason: "planned work", acceptsLoss: true}) { state } }"""


async def over_rest(caller, operation_id, headers):
    answer = await caller.post(f"{OPS}/{operation_id}/confirm", json=LOSS, headers=headers)
    return answer.status_code != 403, answer


async def over_the_graph(caller, operation_id, headers):
    body = {"query": CONFIRM, "variables": {"id": operation_id}}
    answer = await caller.post("/graphql", json=body, headers=headers)
    errors = answer.json().get("errors", [])
    return "forbidden" not in {one["extensions"]["code"] for one in errors}, answer


@pytest.mark.parametrize("confirm", [over_rest, over_the_graph])
@pytest.mark.parametrize("risk", ORDERS)
@pytest.mark.usefixtures("f3")
async def test_each_role_confirms_what_its_risk_classes_are(
    client, anybody, credentials, plan, act, confirm, risk
):
    wrong = {}
    for kind, role in CALLERS:
        name, parameters = ORDERS[risk]
        planned = await plan(name, **parameters)
        assert planned["plan"]["risk"] == risk
        headers = await credentials(kind, role)

        passed, answer = await confirm(anybody, planned["id"], headers)

        expected = kind != "read-only token" and risk in CONFIRMED_BY[role]
        state = (await client.get(f"{OPS}/{planned['id']}")).json()["state"]
        if (passed, state) != (expected, "queued" if expected else "planned"):
            wrong[kind, role] = (state, answer.text)
        await act(planned, "cancel")

    assert wrong == {}


def test_every_risk_class_and_role_is_in_the_matrix():
    # What only looks (R0) is no operation: see test_access_matrix.py.
    assert set(ORDERS) == set(Risk) - {risk for risk in Risk if risk == "R0"}
    assert set(CONFIRMED_BY) == set(Role)
