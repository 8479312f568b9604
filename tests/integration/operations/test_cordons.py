"""A cordon ends when an election right after it would know that the broker is cordoned."""

import pytest

from backend.domain.election import ReplicaReport
from backend.operations.actions.brokers import AwaitRoutes
from backend.operations.engine.kind import OperationContext, Waiting
from tests.integration.operations.crashing import World
from tests.integration.services.controller_driver import ControllerDriver

PROCESS = 7
ALIVE = {"age_ms": 0, "timeout_ms": 10_000}
SILENT = {"age_ms": 20_000, "timeout_ms": 10_000}


@pytest.fixture
async def driver(database):
    made = ControllerDriver(database)
    await made.make_f3()
    return made


async def wait_for(driver, heartbeat):
    """Wait for routes of replica 2 after its last heartbeat."""
    world = World(driver.controller.database)
    context = OperationContext(
        driver.controller.database, world.clock, world.queue, driver.controller
    )
    driver.heartbeat_source.heard = {2: heartbeat}
    address = (await driver.group()).replicas[2].address
    return await AwaitRoutes("c", "g", 2, address).do(None, context)


async def test_a_cordon_waits_until_the_controller_has_heard_of_it(driver):
    # Case A16: a master that died right after a drain left the group to the drained replica.
    with pytest.raises(Waiting, match="the controller has not heard yet"):
        await wait_for(driver, ReplicaReport(**ALIVE, life=PROCESS))

    done = await wait_for(driver, ReplicaReport(**ALIVE, life=PROCESS, is_cordoned=True))

    assert done == {"writable_topics": 0}


@pytest.mark.parametrize(
    "heartbeat", [ReplicaReport(**ALIVE), ReplicaReport(**SILENT, life=PROCESS)]
)
async def test_a_cordon_waits_for_no_report_of_a_stock_broker_or_a_silent_broker(driver, heartbeat):
    assert await wait_for(driver, heartbeat) == {"writable_topics": 0}
