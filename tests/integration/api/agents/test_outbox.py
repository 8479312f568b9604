"""Messages that escape from acting masters, over both doors: a broker alone has none."""

from tests.integration.api.agents.conftest import CLUSTER, GROUP

OUTBOX = """query ($chosen: OutboxFilter) {
  outbox(first: 10, chosen: $chosen) {
    nodes { brokerGroupName topic kind entryCount oldestAgeMs failureCount lastFailure }
    totalCount unknown { clusterName brokerGroupName }
  }
}"""


async def test_a_broker_that_acts_for_no_other_one_has_nothing_in_its_outbox(broker, get, ask):
    assert (await broker.client.send("orders", b"m", properties={"DELAY": "1"})).code == 0

    found = await get("/outbox", cluster_name=CLUSTER, broker_group_name=GROUP, topic="orders")
    graph = (await ask(OUTBOX, chosen={"clusterName": CLUSTER}))["outbox"]

    assert (found["items"], found["unknown"]) == ([], [])
    assert (graph["nodes"], graph["unknown"], graph["totalCount"]) == ([], [], 0)
