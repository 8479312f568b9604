"""A stock client waits at the end of a logical queue that is sealed for a move."""

import asyncio

import pytest

from backend.clients.clock import SystemClock
from backend.domain.operation import OperationState
from tests.integration.operations.agents import running_agents
from tests.interop.client import StockClient
from tests.interop.java import VERSIONS, build
from tests.pools import opened_database

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

SENT = 5
AFTER_THE_SEAL = ("after the effect", 2)
"""A move reserves twice before it seals."""

REPORTS_A_SECOND, SEALED_REPORTS = 10, 40
PULLS_A_SECOND_MAX = 5


@pytest.fixture
async def agents(database, database_url, redis, tmp_path):
    await asyncio.to_thread(build)
    async with (
        opened_database(database_url, application_name="workers") as workers,
        running_agents(database, workers, redis, tmp_path, SystemClock()) as running,
    ):
        yield running


async def test_a_client_at_the_end_of_a_sealed_queue_waits(agents, tmp_path):
    """L30, L31: it asks rarely until the queue is open again, and then gets the next message."""
    await agents.order("create_static_topic", topic_name="parked", queue_count=2)
    await agents.send("parked", SENT)
    client = StockClient(VERSIONS[0], agents.server.address, tmp_path)
    with client.start("watch", topic="parked", group="parked") as watching:
        await seen(watching, lambda event: event.get("received") == SENT)
        moved = await agents.plan(
            "move_queues", topic_name="parked", destination="broker-b", queues=[0]
        )
        await agents.confirm(moved)
        assert not await agents.run(moved.id, AFTER_THE_SEAL)

        before = pulls(await seen(watching, after(watching, reports=2)))
        asked = pulls(await seen(watching, after(watching, reports=SEALED_REPORTS))) - before

        assert asked <= SEALED_REPORTS / REPORTS_A_SECOND * PULLS_A_SECOND_MAX
        assert (await agents.end(moved.id)).state is OperationState.DONE
        await agents.send("parked", 1, name="broker-b")
        await seen(watching, lambda event: event.get("received") == SENT + 1)
        watching.write_line("stop")
        assert (await asyncio.to_thread(watching.result))["received"] == SENT + 1


async def seen(watching, accepts):
    return await asyncio.to_thread(watching.wait_for, accepts, timeout_s=60)


def after(watching, *, reports):
    due = watching.event_count + reports
    return lambda _: watching.event_count >= due


def pulls(event):
    return event["requests"].get("11", 0)
