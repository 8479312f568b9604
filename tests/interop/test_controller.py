"""Stock 5.5.0 brokers and tools under our controller: ids, elections, failover, cleaning.

The long form has it. `make test` has a stock broker beside ours under the controller
(`test_mixed_group`), and the tools with our agents (`test_administration`).
"""

import json

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker, facts, members, run_tool
from tests.long_form import long_form_only
from tests.ports import free_port

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]
START_TIMEOUT_S = 150
POLL_S = 0.1


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
async def are_in_sync(controller):
    """Give the condition that both brokers are in sync.

    It asks the controller without a tool: each tool is a Java process, which would take the
    processor from the brokers that the test waits for.
    """
    client = await Client.connect(int(controller.rpartition(":")[2]))

    async def holds():
        told = await client.call(RequestCode.CONTROLLER_GET_REPLICA_INFO, {"brokerName": "g"})
        return bool(told.body) and set(json.loads(told.body)["syncStateSet"]) == {1, 2}

    yield holds
    client.writer.close()


@pytest.fixture
def tool(controller, tmp_path):
    async def run(command, *arguments):
        return await run_tool(tmp_path, command, "-a", controller, *arguments)

    return run


@long_form_only
async def test_stock_brokers_are_given_ids_elected_failed_over_and_cleaned(
    brokers, controller, tool, are_in_sync, eventually
):
    one, two = brokers  # S15, S48, S57, S75

    async def status():
        return await tool("getSyncStateSet", "-b", "g")

    async def await_log(broker, text):
        await eventually(lambda: text in broker.log(), timeout_s=START_TIMEOUT_S, interval_s=POLL_S)

    async def await_both_in_sync():
        await eventually(are_in_sync, timeout_s=START_TIMEOUT_S, interval_s=POLL_S)
        assert members(await status(), "InSyncReplica") == {(1, "true"), (2, "true")}

    await one.start()
    await await_log(one, "state to: RUNNING")
    await two.start()
    await await_both_in_sync()
    assert (one.identity, two.identity) == (1, 2)
    told = facts(await tool("getControllerMetaData"))
    assert told["ControllerLeaderAddress"] == controller

    await one.kill()
    await await_log(two, "Begin to change to master")
    told = facts(await status())
    assert (told["MasterAddr"], told["MasterEpoch"]) == (two.address, "2")

    await one.start()
    await await_both_in_sync()
    assert one.identity == 1
    elected = facts(await tool("electMaster", "-b", "1", "-bn", "g", "-c", "c"))
    assert (elected["BrokerMasterAddr"], elected["MasterEpoch"]) == (one.address, "3")
    await await_log(one, "new Epoch:3")

    await two.kill()
    cleaned = await tool("cleanBrokerMetadata", "-bn", "g", "-c", "c", "-b", "2")
    assert "success" in cleaned
    output = await status()
    assert members(output, "InSyncReplica") | members(output, "NotInSyncReplica") == {(1, "true")}
