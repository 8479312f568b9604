"""Share the world of the engine, and the agents that kinds about brokers change."""

import pytest

from backend.clients.clock import SystemClock
from backend.domain.operation import Confirmation
from backend.operations.engine import orders
from backend.operations.engine.kind import OperationRequest
from tests.integration.operations.agents import running_agents
from tests.integration.operations.crashing import ANNA, World
from tests.pools import opened_database


@pytest.fixture
async def agents(database, database_url, redis, tmp_path):
    async with (
        opened_database(database_url, application_name="workers") as workers,
        running_agents(database, workers, redis, tmp_path, SystemClock()) as running,
    ):
        yield running


@pytest.fixture
def world(database):
    return World(database)


@pytest.fixture
def plan(world):
    async def make(step_count=3):
        request = OperationRequest("count", world.parameters(step_count))
        return await orders.plan_operation(request, ANNA, world.context, kinds=world.kinds)

    return make


@pytest.fixture
def order(world, plan):
    async def make(step_count=3):
        planned = await plan(step_count)
        await orders.confirm_operation(
            planned.id, Confirmation(), ANNA, world.context, kinds=world.kinds
        )
        return planned.id

    return make


@pytest.fixture
def look(world):
    async def find(operation_id):
        return await orders.describe_operation(operation_id, world.context)

    return find
