"""A stock client whose static topic is deleted, and created again as an ordinary one."""

import asyncio

import pytest

from backend.clients.clock import SystemClock
from backend.domain.operation import OperationState
from tests.compiled_statements import opened_database
from tests.integration.operations.agents import running_agents
from tests.interop.client import StockClient
from tests.interop.conftest import QUICK_REBALANCE
from tests.interop.java import VERSIONS, build

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

SYNTHETIC = "__syslo__global__"


@pytest.fixture
async def agents(database, database_url, redis, tmp_path):
    await asyncio.to_thread(build)
    async with (
        opened_database(database_url, application_name="workers") as workers,
        running_agents(database, workers, redis, tmp_path, SystemClock()) as running,
    ):
        yield running


async def seen(running, accepts):
    return await asyncio.to_thread(running.wait_for, accepts, timeout_s=60)


async def test_a_connected_client_uses_a_recreated_topic_once_its_table_is_cleared(
    agents, tmp_path
):
    """L61: no name server attaches the mapping of a deleted topic.

    Stock clients keep the old mapping for ever (H-24), so the test clears their table.
    """
    names = {"topic_name": "reborn"}
    await agents.order("create_static_topic", **names, queue_count=4)
    client = StockClient(VERSIONS[0], agents.server.address, tmp_path)
    kept_client = {"system": QUICK_REBALANCE, "topic": "reborn", "group": "reborn"}
    with client.start("kept-client", **kept_client) as kept:

        async def ask_for(line, event):
            kept.write_line(line)
            return await seen(kept, lambda one: one["event"] == event)

        sent = await ask_for("send", "sent")
        assert (sent["count"], sent["brokers"], sent["refusals"]) == (4, [SYNTHETIC], [])
        await ask_for("received 4", "received")
        deleted = await agents.order("delete_static_topic", **names, purge=True)
        assert deleted.state is OperationState.DONE, deleted.outcome
        assert any("Restart connected clients" in one for one in deleted.plan.impact)
        created = await agents.order("create_topic", **names)
        assert created.state is OperationState.DONE, created.outcome

        stuck = await ask_for("send", "sent")
        assert (stuck["count"], stuck["brokers"]) == (0, ["broker-a", "broker-b"])
        assert stuck["refusals"] == ["The broker[null] not exist"]
        await ask_for("clear", "cleared")

        served = await ask_for("send", "sent")
        assert (served["refusals"], served["brokers"]) == ([], ["broker-a", "broker-b"])
        assert served["count"] > 0
        await ask_for(f"received {4 + served['count']}", "received")
        kept.write_line("stop")
        assert (await asyncio.to_thread(kept.result))["received"] == 4 + served["count"]
