"""The graph orders as REST does, and all that was ordered is in the audit."""

import pytest
from sqlalchemy import update

from backend.db.operation_tables import audit_entries
from tests.integration.api.ordering import OPS, REASON, V1

PLAN = """
mutation ($plan: PlanInput!) { planOperation(plan: $plan, key: "k") {
  id state kind target plan { summary risk preconditions { name value }
  changes { what before after } impact checks { name verdict why stockCode } wayBack loss facts }
  steps { name title state } } }
"""
CONFIRM = """
mutation ($id: ID!, $given: ConfirmationInput!) {
  confirmOperation(id: $id, given: $given) { state confirmedBy reason } }
"""


@pytest.mark.usefixtures("f3")
async def test_the_graph_orders_as_rest_does(client, ask, carry_out, follow):
    order = {"electMaster": {"clusterName": "c", "groupName": "g", "brokerId": "2"}}
    planned = (await ask(PLAN, plan=order))["planOperation"]
    again = (await ask(PLAN, plan=order))["planOperation"]
    given = {"typedName": "g", "reason": "planned work"}
    confirmed = (await ask(CONFIRM, id=planned["id"], given=given))["confirmOperation"]
    follow(2)
    await carry_out()
    data = await ask(
        '{ operations(first: 1, clusterName: "c") { totalCount nodes { id state outcome'
        " readBack { what intended observed agreement } } } }"
    )

    assert again == planned
    assert confirmed == {"state": "QUEUED", "confirmedBy": "admin", "reason": "planned work"}
    [node] = data["operations"]["nodes"]
    assert (node["id"], node["state"]) == (planned["id"], "DONE")
    in_rest = (await client.get(OPS)).json()["items"][0]
    assert in_rest["plan"]["changes"] == planned["plan"]["changes"]
    assert in_rest["read_back"][0]["observed"] == node["readBack"][0]["observed"] == "2"


@pytest.mark.usefixtures("f3")
async def test_the_graph_refuses_as_rest_does(ask, driver):
    order = {"electMaster": {"clusterName": "c", "groupName": "g", "brokerId": "2"}}
    planned = (await ask(PLAN, plan=order))["planOperation"]
    await driver.elect(2, designated=True)

    given = {"typedName": "g", "reason": "planned work"}
    [error] = (await ask(CONFIRM, errors=True, id=planned["id"], given=given))["errors"]

    assert error["extensions"] == {
        "code": "precondition_failed",
        "reason": "precondition_moved",
        "precondition": "master epoch",
        "expected": "1",
        "found": "2",
    }


@pytest.mark.usefixtures("f3")
async def test_all_of_it_is_in_the_audit_and_a_changed_byte_is_named(
    client, ask, plan, act, carry_out, follow, database
):
    planned = await plan("elect_master", broker_id=2)
    await act(planned, "confirm", REASON)
    follow(2)
    await carry_out()

    entries = (await client.get(V1 + "/audit", params={"operation_id": planned["id"]})).json()
    whole = (await client.get(V1 + "/audit/verification")).json()
    assert [(e["actor"], e["action"]) for e in reversed(entries["items"])] == [
        ("admin", "operation.planned"),
        ("admin", "operation.queued"),
        ("server", "operation.running"),
        ("server", "step.done"),
        ("server", "step.done"),
        ("server", "operation.done"),
    ]
    step = entries["items"][2]["details"]
    assert (step["before"]["master_id"], step["after"]["master_id"]) == (1, 2)
    assert entries["items"][-2]["details"]["reason"] == "planned work"
    assert entries["items"][-1]["source"].startswith("rest ")
    assert (whole["broken_number"], whole["checked_count"], whole["is_complete"]) == (None, 6, True)

    async with database.begin() as connection:
        await connection.execute(
            update(audit_entries)
            .where(audit_entries.c.number == 3)
            .values(details=audit_entries.c.details + " ")
        )
    broken = (await client.get(V1 + "/audit/verification")).json()
    data = await ask("{ auditVerification { brokenNumber reason } }")
    assert (broken["broken_number"], broken["reason"]) == (3, "its content is not what was hashed")
    assert data["auditVerification"]["brokenNumber"] == "3"
    async with database.begin() as connection:
        await connection.execute(audit_entries.delete().where(audit_entries.c.number == 3))
    removed = (await client.get(V1 + "/audit/verification")).json()
    assert (removed["broken_number"], "missing" in removed["reason"]) == (3, True)
