"""Share the agents that kinds about brokers change."""

import pytest

from backend.clients.clock import SystemClock
from backend.db.engine import open_database
from tests.integration.operations.agents import running_agents


@pytest.fixture
async def agents(database, database_url, redis, tmp_path):
    workers = open_database(database_url, application_name="workers")
    async with running_agents(database, workers, redis, tmp_path, SystemClock()) as running:
        yield running
    await workers.dispose()
