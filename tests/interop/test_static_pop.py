"""Stock consumers receive a static topic by POP while its queues move (queue-ownership 4.19)."""

import asyncio

import pytest

from tests.interop.client import StockClient
from tests.interop.java import build
from tests.interop.queue_moves import order, regent
from tests.interop.test_pop import COUNT, QUICK_REBALANCE, reached
from tests.system.cluster import Cluster, cluster

__all__ = ["cluster"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

TOPIC, CONSUMERS = "popped-static", "poppers"


async def test_stock_consumers_share_a_static_topic_by_pop_while_its_queues_move(
    cluster: Cluster, tmp_path
):
    await asyncio.to_thread(build)
    await asyncio.to_thread(
        order, cluster, "create", TOPIC, "--queues", "8", "--broker-group", "broker-a"
    )
    client = StockClient("5.5.0", cluster.name_server_address, tmp_path)
    options = {"topic": TOPIC, "group": CONSUMERS, "count": COUNT, "exists": "true"}

    with client.start("pop", system=QUICK_REBALANCE, **options) as running:
        await reached(running, "opened")
        await asyncio.to_thread(receive_by_pop, cluster)
        running.write_line("")
        await reached(running, "consumed")
        await asyncio.to_thread(order, cluster, "move", TOPIC, "--to", "broker-b")
        running.write_line("")
        result = await asyncio.to_thread(running.result)

    assert result["count"] == 2 * COUNT
    assert result["consumers"] == 2
    assert result["with_handle"] > COUNT
    # At most what consumers had when the queues moved came again, and what failed at first.
    assert result["deliveries"] < 3 * COUNT
    listed = await asyncio.to_thread(regent, cluster, "queue", "share", "list")
    queues = listed["share_queues"]
    used = [one for one in queues if one["topic"] == TOPIC and one["is_used"]]
    assert [one["broker_group_name"] for one in used] == ["broker-b"] * 8


def receive_by_pop(cluster: Cluster) -> None:
    """Set the consume mode of the group on the static topic."""
    words = ("group", "mode", CONSUMERS, TOPIC, "POP", "--yes", "--reason", "test")
    done = regent(cluster, *words)
    assert done["state"] == "done", done
