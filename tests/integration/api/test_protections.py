"""Deletion protection over REST and the graph: who set it, and what it blocks there."""

import pytest

from tests.integration.api.ordering import LOSS, OPS, V1, G

C = V1 + "/clusters/c"
PLAN = "mutation ($plan: PlanInput!) { planOperation(plan: $plan) { id state plan { risk } } }"
SEEN = """{ cluster(name: "c") {
  topics(first: 10) { nodes { name protection { protectedBy reason } } }
  topic(name: "orders") { protection { protectedBy protectedAt reason } }
  brokerGroup(name: "broker-a") { brokers { address protection { reason } } }
} }"""


@pytest.fixture
def protect(client, act, carry_out):
    """Order a protection to be set or lifted, and have that carried out."""

    async def order(kind, name, *, is_protected=True):
        parameters = {"cluster_name": "c", "resource_kind": kind, "resource_name": name}
        body = {
            "kind": "change_protection",
            "parameters": parameters | {"is_protected": is_protected},
        }
        answer = await client.post(OPS, json=body)
        assert answer.status_code == 201, answer.text
        given = {"reason": "production"} | ({} if is_protected else {"typed_name": name})
        await act(answer.json(), "confirm", given)
        await carry_out()
        done = (await client.get(f"{OPS}/{answer.json()['id']}")).json()
        assert done["state"] == "done", done["outcome"]
        return done

    return order


async def test_pages_and_lists_show_who_protects_what(client, ask, register, protect):
    address = await register(cluster="c", topics=["orders", "other"])
    await protect("topic", "orders")
    await protect("broker", f"broker-a/{address}")

    topic = (await client.get(f"{C}/topics/orders")).json()["protection"]
    topics = (await client.get(f"{C}/topics")).json()["items"]
    brokers = (await client.get(f"{C}/brokers")).json()["items"]
    graph = (await ask(SEEN))["cluster"]

    assert (topic["protected_by"], topic["reason"]) == ("admin", "production")
    assert {one["name"]: one["protection"] for one in topics} == {"orders": topic, "other": None}
    assert [one["protection"]["reason"] for one in brokers] == ["production"]
    assert {one["name"]: one["protection"] for one in graph["topics"]["nodes"]} == {
        "orders": {"protectedBy": "admin", "reason": "production"},
        "other": None,
    }
    told = graph["topic"]["protection"]
    assert (told["protectedBy"], told["reason"]) == ("admin", "production")
    assert graph["brokerGroup"]["brokers"] == [
        {"address": address, "protection": {"reason": "production"}}
    ]


async def test_what_is_lifted_needs_the_name_and_a_reason(client, register, protect, act):
    await register(cluster="c", topics=["orders"])
    set_ = await protect("topic", "orders")
    back = await act(set_, "undo", status=201)

    refused = await act(back, "confirm", {}, status=422)
    lifted = await protect("topic", "orders", is_protected=False)

    assert (back["plan"]["risk"], refused["code"]) == ("R2", "confirmation_missing")
    assert (await client.get(f"{C}/topics/orders")).json()["protection"] is None
    told = (await client.get(f"{V1}/audit", params={"operation_id": lifted["id"]})).json()["items"]
    assert {one["action"] for one in told} >= {"operation.planned", "step.done", "operation.done"}


async def test_the_graph_plans_it(ask, register):
    await register(cluster="c", topics=["orders"])
    wanted = {"clusterName": "c", "resourceKind": "TOPIC", "resourceName": "orders"}

    planned = (await ask(PLAN, plan={"changeProtection": wanted}))["planOperation"]

    assert (planned["state"], planned["plan"]["risk"]) == ("PLANNED", "SMALL")


@pytest.mark.parametrize(
    ("protected", "forgotten", "is_blocked"),
    [(3, [3], True), (2, [3], False), (2, [], True)],
    ids=["itself", "another", "with its group"],
)
@pytest.mark.usefixtures("f3")
async def test_a_protected_replica_is_not_forgotten(
    client, plan, act, protect, protected, forgotten, is_blocked
):
    replicas = (await client.get(G)).json()["replicas"]
    addresses = {one["broker_id"]: one["address"] for one in replicas}
    stale = await plan("forget_replicas", broker_ids=forgotten, includes_living=not forgotten)
    await protect("broker", f"g/{addresses[protected]}")

    planned = await plan("forget_replicas", broker_ids=forgotten, includes_living=not forgotten)

    blocks = [one for one in planned["plan"]["checks"] if one["verdict"] == "block"]
    assert [one["name"] for one in blocks] == ["no protection"] * is_blocked
    if is_blocked:
        assert "regent broker unprotect g --address" in blocks[0]["why"]
        assert (await act(planned, "confirm", LOSS, status=409))["code"] == "plan_blocked"
        told = await act(stale, "confirm", LOSS, status=412)
        assert told["facts"]["precondition"] == "deletion protection"
