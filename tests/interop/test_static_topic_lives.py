"""Stock clients whose static topic loses queues, or is deleted and becomes an ordinary one."""

import asyncio
from contextlib import contextmanager

import pytest

from backend.clients.clock import SystemClock
from backend.domain.operation import OperationState, StepState
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.operations.agents import running_agents
from tests.interop.client import StockClient
from tests.interop.conftest import QUICK_REBALANCE
from tests.interop.java import VERSIONS, build
from tests.pools import opened_database

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


class Kept:
    """A producer and a consumer of stock that stay connected, and obey commands."""

    def __init__(self, running):
        self._running = running

    async def ask(self, line, event):
        """Give a command, and return the event that it ends with."""
        self._running.write_line(line)
        return await seen(self._running, lambda one: one["event"] == event)

    async def send(self):
        """Send to each queue of the route; return how many were taken, by which, and refusals."""
        sent = await self.ask("send", "sent")
        return sent["count"], sent["brokers"], sent["refusals"]

    async def stop(self):
        """Stop the clients; return how many messages the consumer received."""
        self._running.write_line("stop")
        return (await asyncio.to_thread(self._running.result))["received"]


@contextmanager
def kept(client, topic, group):
    options = {"system": QUICK_REBALANCE, "topic": topic, "group": group}
    with client.start("kept-client", **options) as running:
        yield Kept(running)


async def test_the_last_queues_are_read_to_their_end_before_they_go_and_come_back(agents, tmp_path):
    """L8: two of six queues refuse sends, and consumers read them until all groups are done."""
    name = {"topic_name": "shrunk"}
    await agents.order("create_static_topic", **name, queue_count=6)
    client = StockClient(VERSIONS[0], agents.server.address, tmp_path)
    with kept(client, "shrunk", "first") as first:
        assert await first.send() == (6, [SYNTHETIC], [])
        await first.ask("received 6", "received")
        for queue_id in (4, 5):
            await commit(agents, "slow", queue_id, 0)

        # The producer is connected: a plan without force is blocked.
        planned = await agents.plan("shrink_static_topic", **name, queue_count=4, force=True)
        await agents.confirm(planned)
        waiting = await agents.end(planned.id)
        assert (waiting.state, waiting.next_step.state) == (
            OperationState.QUEUED,
            StepState.WAITING,
        )
        assert "slow has 2 to read" in waiting.next_step.error
        assert await first.send() == (4, [SYNTHETIC], ["code 501"])
        with kept(client, "shrunk", "second") as second:
            await second.ask("received 10", "received")
            assert await second.stop() == 10

        for queue_id in (4, 5):
            await commit(agents, "slow", queue_id, 1)
        ended = await agents.end(planned.id)
        assert ended.state is OperationState.DONE, ended.outcome
        await first.ask("queues 4", "queues")
        assert await first.send() == (4, [SYNTHETIC], [])
        grown = await agents.order("expand_static_topic", **name, queue_count=5)
        assert grown.state is OperationState.DONE, grown.outcome
        await first.ask("queues 5", "queues")
        assert await first.send() == (5, [SYNTHETIC], [])
        await first.ask("received 19", "received")
        assert await first.stop() == 19


async def commit(agents, group, queue_id, offset):
    """Commit a position of another group at the leader of a queue; others refuse it."""
    fields = {"consumerGroup": group, "topic": "shrunk", "queueId": queue_id}
    codes = []
    for broker in agents.brokers.values():
        connected = await Client.connect(broker.port)
        await connected.heartbeat(group, "shrunk")
        answer = await connected.call(
            RequestCode.UPDATE_CONSUMER_OFFSET, {**fields, "commitOffset": offset}
        )
        codes.append(answer.code)
        await connected.close()
    assert 0 in codes


async def test_a_connected_client_uses_a_recreated_topic_once_its_table_is_cleared(
    agents, tmp_path
):
    """L61: no name server attaches the mapping of a deleted topic.

    Stock clients keep the old mapping for ever (H-24), so the test clears their table.
    """
    names = {"topic_name": "reborn"}
    await agents.order("create_static_topic", **names, queue_count=4)
    client = StockClient(VERSIONS[0], agents.server.address, tmp_path)
    with kept(client, "reborn", "reborn") as clients:
        assert await clients.send() == (4, [SYNTHETIC], [])
        await clients.ask("received 4", "received")
        deleted = await agents.order("delete_static_topic", **names, purge=True)
        assert deleted.state is OperationState.DONE, deleted.outcome
        assert any("Restart connected clients" in one for one in deleted.plan.impact)
        created = await agents.order("create_topic", **names)
        assert created.state is OperationState.DONE, created.outcome
        await clients.ask("queues 16", "queues")

        brokers = ["broker-a", "broker-b"]
        assert await clients.send() == (0, brokers, ["The broker[null] not exist"])
        await clients.ask("clear", "cleared")

        count, served_by, refusals = await clients.send()
        assert (served_by, refusals) == (brokers, [])
        assert count > 0
        await clients.ask(f"received {4 + count}", "received")
        assert await clients.stop() == 4 + count
