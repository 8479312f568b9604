"""Stock consumers that receive by POP in a broker group, with a failover in between (O51)."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from backend.brokers.requests.logical_queues import StoreMapping
from backend.domain.logical_queue.mapping import BrokerMapping, MappingInfo
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.share_queue import ShareQueueName
from backend.domain.topic_layout import TopicLayout
from tests.integration.broker.popping import set_mode
from tests.integration.replication.conftest import Group, group, hurried, lease_policy
from tests.integration.replication.sharing import await_mode, await_owner, hand_over, share
from tests.interop.client import StockClient
from tests.interop.java import build
from tests.waiting import eventually

__all__ = ["group", "hurried", "lease_policy"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

QUICK_REBALANCE = {"rocketmq.client.rebalance.waitInterval": "1000"}
TOPIC, COUNT = "popped", 400
QUEUE_COUNT = 4


async def test_o51_stock_consumers_share_messages_by_pop_over_a_failover(group: Group, tmp_path):
    # Q87: the clients find the new master by the route.
    await group.add_many(2)

    async with receiving(group, tmp_path, TOPIC, count=COUNT) as running:
        group.kill(1)
        await group.await_state(2, 2, {2})
        result = await next_round(running)

    check(result, 2 * COUNT)


async def test_o51_stock_consumers_share_a_shared_topic_over_hand_over_and_failover(
    group: Group, tmp_path
):
    # O28: the clients ask the master, which asks the owner. The owner is the next master.
    topic, count = "orders", 200
    await group.add_many(2)
    assert (await share(group, queue_count=QUEUE_COUNT)).code == 0
    await await_mode(group, 2, "SHARED")
    names = [ShareQueueName(topic, queue_id, "g") for queue_id in range(QUEUE_COUNT)]

    async with receiving(group, tmp_path, topic, count=count, rounds=3, exists=True) as running:
        await await_owner(group, names, 1)
        await hand_over(group, names, 2)
        await next_round(running)
        group.kill(1)
        await group.await_state(2, 2, {2})
        result = await next_round(running)

    check(result, 3 * count)


async def test_o51_stock_consumers_share_a_static_topic_over_a_failover(group: Group, tmp_path):
    # L44: the next master leads the logical queues, and knows what is finished.
    topic, count = "static", 200
    await group.add_many(2)
    await create_static(group, topic)

    async with receiving(group, tmp_path, topic, count=count, exists=True) as running:
        group.kill(1)
        await group.await_state(2, 2, {2})
        result = await next_round(running)

    check(result, 2 * count)


async def test_o51_a_message_that_fails_twice_comes_a_third_time(group: Group, tmp_path):
    # Q12. An orderly consumer of RocketMQ pulls, whatever the mode of its group is.
    await asyncio.to_thread(build)
    await group.add_many(1)
    client = StockClient("5.5.0", f"127.0.0.1:{group.name_server.port}", tmp_path)
    options = {"topic": TOPIC, "group": "g", "count": 24}

    with client.start("pop-retry", system=QUICK_REBALANCE, **options) as running:
        opened = await reached(running, "opened")
        for name in opened["groups"]:
            assert (await set_mode(group.client(1), "POP", TOPIC, name)).code == 0
        running.write_line("")
        result = await asyncio.to_thread(running.result)

    assert result["count"] == 24


async def create_static(group, topic):
    """Create a topic of logical queues that the broker group leads."""
    hosted = {number: (QueueSegment(0, group.name, number),) for number in range(QUEUE_COUNT)}
    mapping = BrokerMapping(MappingInfo(topic, group.name, 1_000, QUEUE_COUNT), hosted)
    layout = TopicLayout(read_queue_count=QUEUE_COUNT, write_queue_count=QUEUE_COUNT)
    request = StoreMapping(layout=layout, mapping=mapping, is_final=True)
    told = await group.client(1).call(request.code, request.ext, request.body)
    assert told.code == 0, told.remark


@asynccontextmanager
async def receiving(group, home, topic, *, count, rounds=2, exists=False):
    """Have two consumers of group `g` receive a first round of messages from the first broker."""
    await asyncio.to_thread(build)
    client = StockClient("5.5.0", f"127.0.0.1:{group.name_server.port}", home)
    options = {"topic": topic, "group": "g", "count": count, "rounds": rounds}
    options["exists"] = str(exists).lower()

    async def is_set():
        return (await set_mode(group.client(1), "POP", topic)).code == 0

    with client.start("pop", system=QUICK_REBALANCE, **options) as running:
        await reached(running, "opened")
        await eventually(is_set)
        await next_round(running)
        yield running


async def next_round(running):
    """Let the consumers receive the next round; return the result behind the last one."""
    count = running.event_count
    running.write_line("")
    return await asyncio.to_thread(
        running.wait_for,
        lambda it: running.event_count > count and it["event"] in {"consumed", "result"},
        timeout_s=120,
    )


def check(result, count):
    """Check that both consumers got the messages, and few of them more than once."""
    assert result["count"] == count
    assert result["consumers"] == 2
    assert result["with_handle"] > count // 2
    # At most what consumers had when the master died came again, and what failed at first.
    assert result["deliveries"] < 1.5 * count


async def reached(running, event):
    return await asyncio.to_thread(running.wait_for, lambda it: it["event"] == event, timeout_s=120)
