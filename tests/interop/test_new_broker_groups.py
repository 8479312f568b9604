"""Stock consumers of a static topic while a broker group joins and takes its share."""

import asyncio
from contextlib import ExitStack

import pytest

from backend.clients.clock import SystemClock
from backend.db import brokers as broker_rows
from backend.domain.operation import OperationState
from tests.integration.operations.agents import CLUSTER, running_agents
from tests.interop.client import StockClient
from tests.interop.conftest import QUICK_REBALANCE
from tests.interop.java import VERSIONS, build
from tests.pools import opened_database
from tests.waiting import eventually

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

QUEUES = {"broker-a": (0, 2, 4, 6), "broker-b": (1, 3, 5, 7)}
QUEUE_COUNT_OF_ONE = 2
SENT = 5
HEARTBEATS_MS = (1_000, 1_000, 1_000, 10_000)
"""A new broker gets heartbeats of the last client less often than those of the others."""
REPORTS_OF_SOME_REBALANCES = 40
"""A client reports ten times a second, and asks for the route and rebalances each second."""


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


async def later(running):
    """Give a report after several rebalances."""
    due = running.event_count + REPORTS_OF_SOME_REBALANCES
    return await seen(running, lambda _: running.event_count >= due)


async def test_no_consumer_rebalances_when_a_new_broker_group_takes_its_share(agents, tmp_path):
    """L15: the queues of all consumers stay the same, and all messages come."""
    await agents.order("create_static_topic", topic_name="grown", queue_count=8)
    client = StockClient(VERSIONS[0], agents.server.address, tmp_path)
    with ExitStack() as stack:
        watching = [
            stack.enter_context(
                client.start(
                    "watch",
                    system=QUICK_REBALANCE,
                    topic="grown",
                    group="grown",
                    heartbeat_ms=heartbeat_ms,
                )
            )
            for heartbeat_ms in HEARTBEATS_MS
        ]
        for one in watching:
            await seen(one, lambda event: event.get("queues") == QUEUE_COUNT_OF_ONE)
        before = [(await later(one))["allocations"] for one in watching]

        await agents.start("broker-c")
        await eventually(lambda: is_known(agents, "broker-c"))
        moved = await agents.order("move_queues", topic_name="grown", onto="broker-c")

        assert moved.state is OperationState.DONE, moved.outcome
        assert moved.plan.summary.startswith("2 logical queues of topic grown move from ")
        for name, queue_ids in QUEUES.items():
            for queue_id in queue_ids:
                await agents.send("grown", SENT, name=name, queue_id=queue_id)
        stored = [agents.agent("broker-c").store.offsets("grown", at) for at in range(2)]
        assert stored == [(0, SENT)] * 2
        for one in watching:
            await seen(one, lambda event: event.get("received") == QUEUE_COUNT_OF_ONE * SENT)
        after = [await later(one) for one in watching]
        assert [one["allocations"] for one in after] == before
        assert [one["queues"] for one in after] == [QUEUE_COUNT_OF_ONE] * len(watching)


async def is_known(agents, name):
    async with agents.database.connect() as connection:
        masters = await broker_rows.list_masters(connection, CLUSTER, [name])
    return any(one.is_online for one in masters)
