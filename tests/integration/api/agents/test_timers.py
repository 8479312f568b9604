"""Messages that wait for a time on a living agent, over both doors."""

import time

from tests.integration.api.agents.conftest import CLUSTER, GROUP
from tests.waiting import eventually

TIMERS = """query ($chosen: TimerFilter) {
  timers(first: 10, chosen: $chosen) {
    nodes {
      brokerGroupName waitingCount overdueCount firstDueAt hindrance topicCount
      minutes { startsAt waitingCount } hours { waitingCount } topics { topic waitingCount }
    }
    totalCount unknown { clusterName brokerGroupName }
  }
}"""
MINUTE_MS = 60_000


async def test_waiting_messages_are_counted_by_minute_hour_and_topic(broker, get, ask):
    minute_ms = (time.time_ns() // 1_000_000 // MINUTE_MS + 20) * MINUTE_MS
    for topic, count in (("orders", 2), ("bills", 1)):
        for _ in range(count):
            at = {"TIMER_DELIVER_MS": str(minute_ms + 5000)}
            assert (await broker.client.send(topic, b"m", properties=at)).code == 0

    async def all_of_them():
        found = await get("/timers", cluster_name=CLUSTER)
        return found if found["items"][0]["waiting_count"] == 3 else None

    (one,) = (await eventually(all_of_them))["items"]
    of_topic = await get("/timers", topic="bills")
    none = await get("/timers", topic="others")
    graph = (await ask(TIMERS, chosen={"brokerGroupName": GROUP}))["timers"]

    assert (one["broker_group_name"], one["topic_count"], one["hindrance"]) == (GROUP, 2, None)
    assert [span["waiting_count"] for span in one["minutes"]] == [3]
    assert [span["waiting_count"] for span in one["hours"]] == [3]
    assert (one["overdue_count"], one["held_count"], one["rolled_count"]) == (0, 0, 0)
    assert one["topics"] == [
        {"topic": "orders", "waiting_count": 2},
        {"topic": "bills", "waiting_count": 1},
    ]
    assert of_topic["items"][0]["topics"] == [{"topic": "bills", "waiting_count": 1}]
    assert (none["items"], graph["unknown"], graph["totalCount"]) == ([], [], 1)
    (node,) = graph["nodes"]
    assert (node["waitingCount"], node["hindrance"]) == ("3", None)
