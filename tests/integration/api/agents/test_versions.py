"""What people edit has a version: who has not seen the present one changes nothing (412)."""

import pytest

from tests.integration.api.agents.conftest import CLUSTER, GROUP, until
from tests.integration.api.ordering import OPS, V1

OF_CLUSTER = f"{V1}/clusters/{CLUSTER}"
EDITED = {
    "topic": (
        f"{OF_CLUSTER}/topics/orders",
        "change_topic",
        {"topic_name": "orders"},
        [{"write_queue_count": 6}, {"write_queue_count": 7}],
        f'{{ cluster(name: "{CLUSTER}") {{ topic(name: "orders") {{ version }} }} }}',
    ),
    "consumer group": (
        f"{OF_CLUSTER}/consumer-groups/billing",
        "change_consumer_group",
        {"consumer_group_name": "billing"},
        [{"retry_count_max": 3}, {"retry_count_max": 4}],
        f'{{ consumerGroup(clusterName: "{CLUSTER}", name: "billing") {{ version }} }}',
    ),
    "config": (
        f"{OF_CLUSTER}/broker-groups/{GROUP}/brokers/0/config",
        "change_broker_config",
        {"broker_group_name": GROUP},
        [{"changes": [{"name": "fileReservedTime", "value": v}]} for v in ("48", "49")],
        f"""{{ brokerConfig(clusterName: "{CLUSTER}", brokerGroupName: "{GROUP}", brokerId: "0")
          {{ version }} }}""",
    ),
}
PLAN = """mutation ($plan: PlanInput!, $version: String) {
  planOperation(plan: $plan, version: $version) { id }
}"""


def last(told):
    """Return what lies at the end of an answer of nested fields."""
    while isinstance(told, dict):
        [told] = told.values()
    return told


@pytest.mark.parametrize("what", EDITED)
async def test_an_edit_of_a_version_that_is_past_is_refused_and_changes_nothing(
    broker, client, ask, act, go_on, what
):
    path, kind, named, (first, second), question = EDITED[what]
    await broker.member("c1")

    async def tag():
        answer = await client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.headers["ETag"]

    async def plan(if_match, change=second):
        parameters = {"cluster_name": CLUSTER, **named, **change}
        body = {"kind": kind, "parameters": parameters}
        return await client.post(OPS, json=body, headers={"If-Match": if_match})

    seen = await tag()
    assert last(await ask(question)) == seen.strip('"')
    # Figures that are shown beside it move without it.
    await broker.send(3)
    planned = (await plan(seen, first)).json()
    assert planned["state"] == "planned", planned
    await act(planned, "confirm", {"typed_name": planned["target"], "reason": "why"})
    done = await go_on(planned)
    assert done["state"] == "done", done

    async def is_shown():
        return await tag() != seen

    await until(is_shown, "the change is not shown")
    refused = await plan(seen)
    assert refused.status_code == 412
    told = refused.json()
    assert (told["code"], "read it again" in told["detail"]) == ("version_moved", True)
    assert told["facts"] == {"expected": seen.strip('"'), "found": (await tag()).strip('"')}
    assert (await client.get(OPS)).json()["total_count"] == 1
    assert (await plan(await tag())).status_code == 201
    assert (await plan("*")).status_code == 201
    assert (await plan("some words")).status_code == 422


async def test_the_graph_refuses_an_edit_of_a_past_version_alike(broker, client):
    assert broker is not None
    plan = {"changeTopic": {"clusterName": CLUSTER, "topicName": "orders", "writeQueueCount": 6}}

    body = {"query": PLAN, "variables": {"plan": plan, "version": "0" * 32}}
    [told] = (await client.post("/graphql", json=body)).json()["errors"]

    assert told["extensions"]["code"] == "precondition_failed"
    assert (await client.get(OPS)).json()["total_count"] == 0


async def test_what_edits_nothing_takes_no_version(broker, client):
    assert broker is not None
    parameters = {"cluster_name": CLUSTER, "topic_name": "new"}
    body = {"kind": "create_topic", "parameters": parameters}

    answer = await client.post(OPS, json=body, headers={"If-Match": f'"{"0" * 32}"'})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameters")
