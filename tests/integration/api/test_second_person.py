"""Policy x risk x who x door: what one user has confirmed waits until another has agreed."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from uuid import UUID

import pytest
from sqlalchemy import update

from backend.db.operation_tables import operations
from backend.domain.operation_approval import SecondPerson
from backend.domain.plan import Risk
from backend.domain.user import Role
from backend.operations.engine.expiry import lapse_expired
from tests.access_table import CALLERS
from tests.integration.api.access import make_token_of
from tests.integration.api.ordering import LOSS, OPS, V1
from tests.integration.api.test_risk_matrix import CONFIRMED_BY, ORDERS, stop
from tests.long_form import few

SEEN = {"reason": "seen with anna"}
REVIEW = {
    "approve": "mutation ($id: ID!) { approveOperation(id: $id) { state } }",
    "decline": """mutation ($id: ID!) {
      declineOperation(id: $id, reason: "not today") { state } }""",
}
AFTER = {"approve": "queued", "decline": "cancelled"}
NEEDED = {
    SecondPerson.NONE: set(),
    SecondPerson.LOSS: {Risk.LOSS},
    SecondPerson.SERVICE: {Risk.SERVICE, Risk.LOSS},
}


@pytest.fixture(params=[SecondPerson.SERVICE])
def context(context, request):
    settings = context.settings.model_copy(update={"second_person": request.param})
    return replace(context, settings=settings)


every_policy = pytest.mark.parametrize("context", list(SecondPerson), indirect=True)


async def over_rest(caller, verb, operation_id, headers):
    answer = await caller.post(f"{OPS}/{operation_id}/{verb}", json=SEEN, headers=headers)
    return answer.status_code != 403


async def over_the_graph(caller, verb, operation_id, headers):
    body = {"query": REVIEW[verb], "variables": {"id": operation_id}}
    answer = await caller.post("/graphql", json=body, headers=headers)
    errors = answer.json().get("errors", [])
    return "forbidden" not in {one["extensions"]["code"] for one in errors}


@pytest.fixture
def awaiting(plan, act):
    """Plan and confirm as admin an order that then waits for another user."""

    async def order(risk=Risk.SERVICE):
        kind, parameters = ORDERS[risk]
        return await act(await plan(kind, **parameters), "confirm", LOSS)

    return order


@every_policy
@pytest.mark.parametrize("risk", ORDERS)
@pytest.mark.usefixtures("f3")
async def test_the_policy_says_what_waits(context, awaiting, act, risk):
    confirmed = await awaiting(risk)

    is_needed = risk in NEEDED[context.settings.second_person]
    assert confirmed["state"] == ("awaiting_approval" if is_needed else "queued")
    assert ("approve" in confirmed["actions"]) is is_needed
    assert len(context.task_queue.sent) == (0 if is_needed or risk is Risk.LOSS else 1)
    await act(confirmed, "cancel")


@pytest.mark.parametrize(
    ("context", "risk"), few(product(SecondPerson, ORDERS), 5), indirect=["context"]
)
@pytest.mark.usefixtures("f3")
async def test_what_has_stopped_is_planned_again_where_its_gate_is_to_be_passed_again(
    client, context, database, awaiting, act, risk
):
    is_needed = risk in NEEDED[context.settings.second_person]
    is_allowed = {
        ("failed", "failed"): not is_needed and risk is not Risk.LOSS,
        ("partly", "unknown"): not is_needed,
        # Only reading back is left of it.
        ("unknown", "done"): True,
    }
    wrong = {}
    for (state, step), expected in is_allowed.items():
        held = await awaiting(risk)
        await stop(held, database, state=state, step=step)

        offered = (await client.get(f"{OPS}/{held['id']}")).json()["actions"]
        listed = (await client.get(OPS, params={"limit": 1})).json()["items"][0]["actions"]
        told = await client.post(f"{OPS}/{held['id']}/retry")
        again = held if expected else await act(held, "replan", status=201)

        is_refused = told.status_code == 409 and "plan it again" in told.json()["detail"]
        found = ("retry" in offered, "retry" in listed, told.status_code == 200, not is_refused)
        if found != (expected,) * 4:
            wrong[state, step] = (offered, told.text)
        await act(again, "cancel")

    assert wrong == {}


@every_policy
@pytest.mark.parametrize("risk", ORDERS)
@pytest.mark.usefixtures("f3")
async def test_a_plan_says_that_it_will_wait(context, plan, risk):
    kind, parameters = ORDERS[risk]
    planned = await plan(kind, **parameters)

    told = [one for one in planned["plan"]["checks"] if one["name"] == "second person"]
    is_needed = risk in NEEDED[context.settings.second_person]
    assert [one["verdict"] for one in told] == (["warn"] if is_needed else [])


@pytest.mark.parametrize(
    ("review", "verb", "risk"),
    few(product([over_rest, over_the_graph], REVIEW, [Risk.SERVICE, Risk.LOSS]), 4),
)
@pytest.mark.usefixtures("f3")
async def test_each_role_reviews_what_its_risk_classes_are(
    client, bare_client, credentials, awaiting, act, review, verb, risk
):
    wrong, held = {}, None
    for kind, role in CALLERS:
        held = held or await awaiting(risk)
        headers = await credentials(kind, role)

        passed = await review(bare_client, verb, held["id"], headers)

        expected = kind != "read-only token" and risk in CONFIRMED_BY[role]
        state = (await client.get(f"{OPS}/{held['id']}")).json()["state"]
        if (passed, state) != (expected, AFTER[verb] if expected else "awaiting_approval"):
            wrong[kind, role] = state
        if state == "queued":
            await act(held, "cancel")
        if state != "awaiting_approval":
            held = None

    assert wrong == {}


@pytest.mark.parametrize("verb", REVIEW)
@pytest.mark.usefixtures("f3")
async def test_neither_the_same_user_nor_a_token_of_theirs_is_a_second_person(
    client, bare_client, context, awaiting, act, verb
):
    held = await awaiting()
    token = await make_token_of(context, "admin", Role.ADMIN)

    refused = await act(held, verb, SEEN, status=403)

    assert "another user" in refused["detail"]
    assert not await over_rest(bare_client, verb, held["id"], token)
    assert not await over_the_graph(bare_client, verb, held["id"], token)
    assert (await client.get(f"{OPS}/{held['id']}")).json()["state"] == "awaiting_approval"


@pytest.mark.usefixtures("f3")
async def test_what_is_approved_is_carried_out_and_both_are_in_the_audit(
    client, bare_client, credentials, awaiting, carry_out, follow, eventually
):
    held = await awaiting()
    bela = await credentials("session", Role.OPERATOR)

    listed = (await client.get(OPS, params={"state": "awaiting_approval"})).json()["items"]
    await over_rest(bare_client, "approve", held["id"], bela)
    follow(2)
    await carry_out()

    assert [one["id"] for one in listed] == [held["id"]]
    done = (await client.get(f"{OPS}/{held['id']}")).json()
    assert (done["state"], done["confirmed_by"], done["review_reason"]) == (
        "done",
        "admin",
        "seen with anna",
    )
    assert done["reviewed_by"].startswith("operator-")
    told = (await client.get(f"{V1}/audit", params={"operation_id": held["id"]})).json()["items"]
    actors = {one["action"]: one["actor"] for one in told}
    assert actors["operation.awaiting_approval"] == "admin"
    assert actors["operation.queued"] == done["reviewed_by"]

    async def is_reported():
        page = (await client.get(f"{V1}/events", params={"after": 0})).json()
        return "operation.awaiting_approval" in {one["kind"] for one in page["items"]}

    await eventually(is_reported)


@pytest.mark.usefixtures("f3")
async def test_what_is_declined_ends_with_who_and_why(
    client, bare_client, credentials, awaiting, context
):
    held = await awaiting()
    bela = await credentials("session", Role.OPERATOR)

    path = f"{OPS}/{held['id']}/decline"
    bare = await bare_client.post(path, json={}, headers=bela)
    await over_rest(bare_client, "decline", held["id"], bela)

    ended = (await client.get(f"{OPS}/{held['id']}")).json()
    assert bare.status_code == 422
    assert ended["state"] == "cancelled"
    assert ended["outcome"] == f"declined by {ended['reviewed_by']}: seen with anna"
    assert context.task_queue.sent == []


@pytest.mark.usefixtures("f3")
async def test_a_fact_that_moved_since_the_confirmation_makes_it_void(
    client, bare_client, credentials, awaiting, driver
):
    held = await awaiting()
    bela = await credentials("session", Role.OPERATOR)
    await driver.elect(2, designated=True)

    facts = (await client.get(f"{OPS}/{held['id']}/facts")).json()
    refused = await bare_client.post(f"{OPS}/{held['id']}/approve", json=SEEN, headers=bela)

    assert facts["moved"]["name"] == "master epoch"
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_moved")
    assert (await client.get(f"{OPS}/{held['id']}")).json()["state"] == "lapsed"


@pytest.mark.usefixtures("f3")
async def test_it_is_waited_for_a_day_and_no_longer(client, awaiting, context, database):
    held = await awaiting()
    first = await lapse_expired(context.operations)
    async with database.begin() as connection:
        past = context.clock.now() - timedelta(seconds=1)
        ours = operations.c.id == UUID(held["id"])
        await connection.execute(update(operations).where(ours).values(expires_at=past))

    second = await lapse_expired(context.operations)

    assert (first, second) == (0, 1)
    ended = (await client.get(f"{OPS}/{held['id']}")).json()
    assert (ended["state"], ended["outcome"]) == ("lapsed", "it was not approved in time")
