"""Stock 5.5.0 brokers and tools under our controller: ids, elections, failover, cleaning."""

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker, facts, members, run_tool
from tests.ports import free_port

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]
START_TIMEOUT_S = 150


@pytest.fixture
async def controller(database, redis):
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", 0, **stores) as server:
        yield server.address


@pytest.fixture
async def brokers(controller, tmp_path):
    build()
    found = [
        StockBroker(port, controller, tmp_path / str(port)) for port in (free_port(), free_port())
    ]
    yield found
    for broker in found:
        await broker.kill()


@pytest.fixture
def tool(controller, tmp_path):
    async def run(command, *arguments):
        return await run_tool(tmp_path, command, "-a", controller, *arguments)

    return run


async def test_stock_brokers_are_given_ids_elected_failed_over_and_cleaned(
    brokers, controller, tool, eventually
):
    one, two = brokers  # S15, S48, S57, S75

    async def status():
        return await tool("getSyncStateSet", "-b", "g")

    async def are_in_sync():
        return members(await status(), "InSyncReplica") == {(1, "true"), (2, "true")}

    await one.start()
    await eventually(lambda: "state to: RUNNING" in one.log(), timeout_s=START_TIMEOUT_S)
    await two.start()
    await eventually(are_in_sync, timeout_s=START_TIMEOUT_S)
    assert (one.identity, two.identity) == (1, 2)
    told = facts(await tool("getControllerMetaData"))
    assert told["ControllerLeaderAddress"] == controller

    await one.kill()
    await eventually(lambda: "Begin to change to master" in two.log())
    told = facts(await status())
    assert (told["MasterAddr"], told["MasterEpoch"]) == (two.address, "2")

    await one.start()
    await eventually(are_in_sync, timeout_s=START_TIMEOUT_S)
    assert one.identity == 1
    elected = facts(await tool("electMaster", "-b", "1", "-bn", "g", "-c", "c"))
    assert (elected["BrokerMasterAddr"], elected["MasterEpoch"]) == (one.address, "3")
    await eventually(lambda: "new Epoch:3" in one.log())

    await two.kill()
    cleaned = await tool("cleanBrokerMetadata", "-bn", "g", "-c", "c", "-b", "2")
    assert "success" in cleaned
    output = await status()
    assert members(output, "InSyncReplica") | members(output, "NotInSyncReplica") == {(1, "true")}
