"""Share queues of a living agent, over both doors."""

from sqlalchemy import func, select

from backend.db.share_tables import share_leases
from tests.integration.api.agents.conftest import CLUSTER, GROUP
from tests.integration.broker.popping import ack, pop

QUEUES = """query ($chosen: ShareQueueFilter) {
  shareQueues(first: 10, chosen: $chosen) {
    nodes { topic queueId owner mode consumeMode position windowEnd acquiredCount isFull }
    totalCount unknown { clusterName brokerGroupName }
  }
}"""
QUEUE = """query ($group: String!) {
  shareQueue(clusterName: "c", brokerGroupName: "broker-a", topic: "bills", queueId: 0,
             consumerGroupName: $group) {
    queue { acceptedCount oldestAcquiredMs }
    messages { offset clientId holder deliveryCount dueInMs }
  }
}"""
PLACE = f"/clusters/{CLUSTER}/broker-groups/{GROUP}/share-queue"


async def test_share_queues_show_who_has_which_message_and_for_how_long(broker, get, ask, database):
    for number in range(3):
        await broker.client.send("bills", b"%d" % number)
    member = await broker.member("c1", "bills")
    first = await pop(member, "bills", "billing", queueId=0, maxMsgNums=2)
    assert await ack(member, first[0], "billing") == 0

    found = await get("/share-queues", cluster_name=CLUSTER, topic="bills")
    none = await get("/share-queues", consumer_group_name="others")
    one = await get(PLACE, topic="bills", queue_id=0, consumer_group_name="billing")
    absent = await get(PLACE, 404, topic="bills", queue_id=0, consumer_group_name="others")
    chosen = {"brokerGroupName": GROUP, "queueId": 0}
    graph = (await ask(QUEUES, chosen=chosen))["shareQueues"]
    detail = (await ask(QUEUE, group="billing"))["shareQueue"]

    assert (found["unknown"], none["items"], absent["code"]) == ([], [], "share_queue_not_found")
    queue = found["items"][0]
    assert (queue["position"], queue["window_end"], queue["max_offset"]) == (1, 2, 3)
    assert (queue["acquired_count"], queue["unfinished_count"]) == (1, 2)
    assert (queue["mode"], queue["consume_mode"], queue["is_full"]) == ("PRIMARY", None, False)
    assert queue["owner"].startswith(GROUP)
    assert queue["counted_ms"] >= 0
    assert one["queue"]["accepted_count"] == 1
    (message,) = one["messages"]
    assert (message["offset"], message["client_id"], message["holder"]) == (1, "c1", "connected")
    assert 0 < message["due_in_ms"] <= 60_000
    assert graph["totalCount"] == 1
    assert graph["nodes"][0]["acquiredCount"] == 1
    assert detail["messages"][0]["deliveryCount"] == 1
    assert (await ask(QUEUE, group="others"))["shareQueue"] is None
    # Q82: the master needs no lease.
    async with database.connect() as connection:
        assert await connection.scalar(select(func.count()).select_from(share_leases)) == 0
