"""The reports of a living agent about its topics, itself and its readers, over both doors."""

import pytest

from tests.integration.api.agents.conftest import CLUSTER, GROUP

TOPIC = f"/clusters/{CLUSTER}/topics/orders"
BROKER = f"/clusters/{CLUSTER}/broker-groups/{GROUP}/brokers/0"
OFFSETS = """{ topicOffsets(clusterName: "c", topicName: "orders") {
  messageCount queues { brokerGroupName queueId minOffset maxOffset storedAt }
  unknown { why } } }"""
HOLDING = """{ holdingClusters(topicName: "orders") { clusterName kind brokerGroupNames } }"""
STATS = """{ topicStats(clusterName: "c", search: "orders") {
  nodes { name kind messagesInPerSecond readers { consumerGroupName lag } } totalCount } }"""
DEALT = """{ queueAllocations(clusterName: "c", topicName: "orders", clientIds: ["x", "y"]) {
  rule clients { clientId queues { brokerGroupName queueId } } } }"""
STATUS = """{ brokerStatus(clusterName: "c", brokerGroupName: "broker-a", brokerId: "0") {
  address figures { name value } } }"""
CONSUMED = """query ($first: Int!, $after: String) {
  brokerConsumeStats(clusterName: "c", brokerGroupName: "broker-a", brokerId: "0",
      first: $first, after: $after) {
    nodes { consumerGroupName lag queues { topic queueId committed end lag } }
    pageInfo { hasNextPage endCursor } totalCount unknown { why } } }"""


async def test_offsets_of_a_topic_are_those_of_now(broker, get, ask):
    await broker.send(4, queue_id=2)

    found = await get(f"{TOPIC}/offsets")
    graph = (await ask(OFFSETS))["topicOffsets"]

    (written,) = [one for one in found["queues"] if one["queue_id"] == 2]
    (empty,) = [one for one in found["queues"] if one["queue_id"] == 3]
    assert (written["broker_group_name"], written["min_offset"], written["max_offset"]) == (
        GROUP,
        0,
        4,
    )
    assert written["stored_at"] is not None
    assert (empty["max_offset"], empty["stored_at"]) == (0, None)
    assert (found["message_count"], found["unknown"]) == (5, [])
    assert graph["messageCount"] == "5"
    assert [one["maxOffset"] for one in graph["queues"]] == ["1", "0", "4", "0"]


async def test_an_agent_that_is_gone_leaves_the_count_unknown(broker, get):
    broker.agent.kill()

    found = await get(f"{TOPIC}/offsets")
    await get(f"{BROKER}/status", status=502)

    assert (found["message_count"], found["queues"]) == (None, [])
    assert [one["broker_group_name"] for one in found["unknown"]] == [GROUP]


@pytest.mark.usefixtures("broker")
async def test_clusters_figures_and_allocations_of_a_topic_are_answered(get, ask):
    holding = await get("/topics/orders/clusters")
    nowhere = await get("/topics/none/clusters")
    stats = await get(f"/clusters/{CLUSTER}/topic-stats", search="orders")
    dealt = await get(f"{TOPIC}/allocations", client=["y", "x"])

    assert holding == [{"cluster_name": CLUSTER, "kind": "normal", "broker_group_names": [GROUP]}]
    assert nowhere == []
    (row,) = stats["items"]
    assert (row["name"], row["messages_in_per_second"], row["readers"]) == ("orders", None, [])
    average, circle = dealt
    assert [one["queue_id"] for one in average["clients"]["x"]] == [0, 1]
    assert [one["queue_id"] for one in circle["clients"]["x"]] == [0, 2]
    assert (await ask(HOLDING))["holdingClusters"][0]["brokerGroupNames"] == [GROUP]
    assert (await ask(STATS))["topicStats"]["nodes"][0]["name"] == "orders"
    (first, _) = (await ask(DEALT))["queueAllocations"]
    assert [one["clientId"] for one in first["clients"]] == ["x", "y"]
    await get(f"{TOPIC}/allocations", status=422)


async def test_a_broker_reports_its_figures_under_stocks_names(broker, get, ask):
    found = await get(f"{BROKER}/status")
    graph = (await ask(STATUS))["brokerStatus"]
    await get(BROKER.replace("brokers/0", "brokers/7") + "/status", status=404)

    assert found["address"] == broker.address == graph["address"]
    assert found["figures"]["brokerActive"] == "true"
    assert int(found["figures"]["commitLogMaxOffset"]) > 0
    assert {one["name"] for one in graph["figures"]} == set(found["figures"])


async def test_readers_of_a_broker_are_listed_page_by_page(broker, get, ask):
    await broker.send(3)
    for group, offset in (("audit", 4), ("billing", 1)):
        await broker.member(group, group=group)
        await broker.commit(offset, group=group)

    whole = await get(f"{BROKER}/consume-stats")
    first = await get(f"{BROKER}/consume-stats", limit=1)
    rest = await get(f"{BROKER}/consume-stats", limit=1, after=first["next"])
    graph = (await ask(CONSUMED, first=1))["brokerConsumeStats"]

    assert [(one["consumer_group_name"], one["lag"]) for one in whole["items"]] == [
        ("audit", 0),
        ("billing", 3),
    ]
    queue, *others = whole["items"][1]["queues"]
    assert (queue["topic"], queue["committed"], queue["end"], queue["lag"]) == ("orders", 1, 4, 3)
    assert [one["lag"] for one in others] == [0, 0, 0]
    assert first["items"] + rest["items"] == whole["items"]
    assert rest["next"] is None
    assert graph["pageInfo"] == {"hasNextPage": True, "endCursor": first["next"]}
