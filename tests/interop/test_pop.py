"""Stock consumers that receive by POP, with a failover in between (O51)."""

import asyncio

import pytest

from tests.integration.broker.popping import set_mode
from tests.integration.replication.conftest import Group, group, hurried, lease_policy
from tests.interop.client import StockClient
from tests.interop.java import build
from tests.waiting import eventually

__all__ = ["group", "hurried", "lease_policy"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

QUICK_REBALANCE = {"rocketmq.client.rebalance.waitInterval": "1000"}
TOPIC, COUNT = "popped", 400


async def test_o51_stock_consumers_share_messages_by_pop_over_a_failover(group: Group, tmp_path):
    # Q87: the clients find the new master by the route.
    await asyncio.to_thread(build)
    await group.add_many(2)
    client = StockClient("5.5.0", f"127.0.0.1:{group.name_server.port}", tmp_path)
    options = {"topic": TOPIC, "group": "g", "count": COUNT}

    with client.start("pop", system=QUICK_REBALANCE, **options) as running:
        await reached(running, "opened")

        async def is_set():
            return (await set_mode(group.client(1), "POP", TOPIC)).code == 0

        await eventually(is_set)
        running.write_line("")
        await reached(running, "consumed")
        group.kill(1)
        await group.await_state(2, 2, {2})
        running.write_line("")
        result = await asyncio.to_thread(running.result)

    assert result["count"] == 2 * COUNT
    assert result["consumers"] == 2
    assert result["with_handle"] > COUNT
    # At most what consumers had when the master died came again, and what failed at first.
    assert result["deliveries"] < 3 * COUNT


async def reached(running, event):
    await asyncio.to_thread(running.wait_for, lambda it: it["event"] == event, timeout_s=120)
