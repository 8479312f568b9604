"""The graph orders as REST does, and all that was ordered is in the audit."""

import json
import math
from dataclasses import replace

import pytest
from pydantic.alias_generators import to_camel
from sqlalchemy import update

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.db.operation_tables import audit_entries
from backend.domain.broker_property import BrokerProperty, PropertyEffect, PropertyType
from tests.integration.api.ordering import OPS, REASON, V1

JSON = {"Content-Type": "application/json"}
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
    order = {"electMaster": {"clusterName": "c", "brokerGroupName": "g", "brokerId": "2"}}
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
    order = {"electMaster": {"clusterName": "c", "brokerGroupName": "g", "brokerId": "2"}}
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
    assert (broken["broken_number"], broken["reason"]) == (3, "its content does not match its hash")
    assert data["auditVerification"]["brokenNumber"] == "3"
    async with database.begin() as connection:
        await connection.execute(audit_entries.delete().where(audit_entries.c.number == 3))
    removed = (await client.get(V1 + "/audit/verification")).json()
    assert (removed["broken_number"], "missing" in removed["reason"]) == (3, True)


ORDERS = [
    ("create_topic", {"topic_name": "orders", "message_type": "FIFO"}),
    ("create_consumer_group", {"consumer_group_name": "billing", "retry_count_max": 3}),
]


@pytest.fixture
async def unreachable(name_server, register):
    """A master that is recorded, and that can't be reached."""
    await register("main", "broker-a")
    remoting = RemotingClient()
    name_server.controller = replace(name_server.controller, brokers=Brokers(remoting))
    yield
    await remoting.aclose()


@pytest.mark.usefixtures("unreachable")
@pytest.mark.parametrize(("kind", "parameters"), ORDERS)
async def test_both_doors_plan_the_same_and_neither_confirms_what_has_no_author(
    client, ask, kind, parameters
):
    given = {"cluster_name": "main", **parameters}
    in_rest = (await client.post(OPS, json={"kind": kind, "parameters": given})).json()
    order = {to_camel(kind): {to_camel(name): value for name, value in given.items()}}
    in_graph = (await ask(PLAN, plan=order))["planOperation"]
    refused = await client.post(f"{OPS}/{in_rest['id']}/confirm", json={})

    assert (in_graph["kind"], in_graph["target"]) == (kind, in_rest["target"])
    assert in_graph["plan"]["summary"] == in_rest["plan"]["summary"]
    assert in_graph["plan"]["changes"] == in_rest["plan"]["changes"]
    assert (refused.status_code, refused.json()["code"]) == (409, "plan_blocked")
    assert refused.json()["facts"]["check"] == "every master reports it"


UNKEPT = [
    ("create_topic", {"topic_name": "\ud800"}, "$.topic_name"),
    (
        "drain_broker",
        {"broker_group_name": "broker-a", "waived_groups": ["\0"]},
        "$.waived_groups[0]",
    ),
]
OTHERS = [
    ("\0", ".others.a"),
    (math.nan, ".others.a"),
    ({"b": [-math.inf]}, ".others.a.b[0]"),
    (json.loads("[" * 300 + "]" * 300), "[0]"),
]


@pytest.mark.usefixtures("unreachable")
@pytest.mark.parametrize(("kind", "parameters", "place"), UNKEPT)
async def test_both_doors_refuse_what_cannot_be_kept(client, kind, parameters, place):
    """The client would write it in UTF-8 itself, which has no such text."""
    given = {"cluster_name": "main", **parameters}
    order = {to_camel(kind): {to_camel(name): value for name, value in given.items()}}
    asked = json.dumps({"query": PLAN, "variables": {"plan": order}})

    in_rest = await client.post(
        OPS, content=json.dumps({"kind": kind, "parameters": given}), headers=JSON
    )
    in_graph = await client.post("/graphql", content=asked, headers=JSON)

    assert (in_rest.status_code, in_rest.json()["code"]) == (400, "invalid_parameters")
    assert f"at `{place}`" in in_rest.json()["detail"]
    [error] = in_graph.json()["errors"]
    assert error["extensions"]["reason"] == "invalid_parameters"
    assert error["message"] == in_rest.json()["detail"]


@pytest.mark.usefixtures("unreachable")
@pytest.mark.parametrize(("value", "place"), OTHERS)
async def test_what_a_group_is_set_to_besides_is_refused_where_it_cannot_be_kept(
    client, value, place
):
    settings = [{"broker_group_name": "broker-a", "settings": {"others": {"a": value}}}]
    given = {"cluster_name": "main", "consumer_group_name": "billing", "settings": settings}
    asked = json.dumps({"kind": "create_consumer_group", "parameters": given})

    answer = await client.post(OPS, content=asked, headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameters")
    assert f"{place}`" in answer.json()["detail"]


@pytest.mark.usefixtures("unreachable")
async def test_the_graph_takes_lists_of_inputs(ask):
    """What is nested arrives as it does over REST, so that it is the broker that is missed."""
    changes = [{"name": "fileReservedTime", "value": "48"}]
    order = {
        "clusterName": "main",
        "brokerGroupName": "broker-a",
        "brokerId": "7",
        "changes": changes,
    }

    [error] = (await ask(PLAN, errors=True, plan={"changeBrokerConfig": order}))["errors"]

    assert error["extensions"]["reason"] == "broker_unknown"


@pytest.mark.usefixtures("unreachable")
async def test_the_settings_of_a_broker_are_answered_by_both_doors(client, ask, brokers):
    told = BrokerProperty(
        "fileReservedTime", PropertyType.INTEGER, PropertyEffect.LIVE, "72", low=0, high=9
    )
    brokers.properties_reported = {"broker-a-0.main:10911": [told]}
    path = V1 + "/clusters/main/broker-groups/broker-a/brokers"

    in_rest = await client.get(f"{path}/0/config")
    unknown = await client.get(f"{path}/7/config")
    graph = 'query ($id: Int64!) { brokerConfig(clusterName: "main", brokerGroupName: "broker-a",'
    graph += " brokerId: $id) { address properties { name type effect value stored low high } } }"
    in_graph = (await ask(graph, id="0"))["brokerConfig"]
    brokers.properties_reported = {}
    silent = await client.get(f"{path}/0/config")

    [one] = in_rest.json()["properties"]
    assert (one["name"], one["type"], one["effect"], one["high"]) == (
        "fileReservedTime",
        "integer",
        "live",
        9,
    )
    [shown] = in_graph["properties"]
    assert (shown["type"], shown["high"], shown["stored"]) == ("INTEGER", "9", None)
    assert (unknown.status_code, silent.status_code) == (404, 502)
    assert silent.json()["code"] == "broker_silent"
