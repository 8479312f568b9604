"""Stock's mqadmin against our controller and a group of our agents (control-plane.md 7.5)."""

import re
from contextlib import ExitStack

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from tests.integration.replication.conftest import GROUP, Group
from tests.interop.client import build
from tests.interop.stock_broker import facts, members, run_tool

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]
CLUSTER = "TestCluster"
START_TIMEOUT_S = 60
ATTEMPTS = 4


@pytest.fixture
async def group(database, redis, tmp_path):
    """Two agents under our controller, both in sync, the first one master."""
    # It waits for Maven, so it comes before anything beats.
    build()
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", 0, **stores) as server:
        with ExitStack() as stack:
            group = Group(server, tmp_path, stack, stop_controller=None)
            # A tool is a Java process: while it runs, this machine is slow.
            await group.add_many(2, controllerHeartBeatTimeoutMills="20000")
            yield group
            for client in [*group.clients, group.admin]:
                if client is not None:
                    client.writer.close()


@pytest.fixture
def tool(tmp_path):
    """Run a tool until it prints a line of facts that is wanted.

    The tools wait 3 s for an answer, their own start included, which a busy machine exceeds.
    """

    async def run(wanted, command, *arguments):
        output = ""
        for _ in range(ATTEMPTS):
            output = await run_tool(tmp_path, command, *arguments)
            if wanted in output:
                return output
        pytest.fail(f"{command} never told {wanted}: {output}")

    return run


@pytest.fixture
def controller(group):
    return group.name_server.address


def address(group, number):
    return f"127.0.0.1:{group.agents[number - 1].port}"


def epochs(output):
    """Read the entries that getBrokerEpoch prints, by broker address."""
    found = {}
    for block in output.split("#clusterName")[1:]:
        [broker] = re.findall(r"#brokerAddr\t(\S+)", block)
        found[broker] = [
            tuple(int(number) for number in numbers)
            for numbers in re.findall(r"epoch=(\d+), startOffset=(\d+), endOffset=(\d+)", block)
        ]
    return found


async def test_tools_show_our_controller_and_the_replication_of_our_agents(group, tool, controller):
    for body in (b"one", b"two"):
        assert (await group.send(1, body)).code == 0
    log_end = len(group.log_bytes(1).rstrip(b"\0"))

    told = facts(await tool("#ControllerGroup", "getControllerMetaData", "-a", controller))
    output = await tool("#MasterAddr", "getSyncStateSet", "-a", controller, "-b", GROUP)
    master = await tool("#MasterAddr", "haStatus", "-n", controller, "-b", address(group, 1))
    replica = await tool("#MasterAddr", "haStatus", "-n", controller, "-b", address(group, 2))
    epochs_told = epochs(await tool("#Epoch", "getBrokerEpoch", "-n", controller, "-b", GROUP))

    assert (told["ControllerLeaderAddress"], told["ControllerGroup"]) == (controller, "regent")
    state = facts(output)
    assert (state["MasterAddr"], state["MasterEpoch"]) == (address(group, 1), "1")
    assert members(output, "InSyncReplica") == {(1, "true"), (2, "true")}
    seen = facts(master)
    assert (seen["SlaveNum"], seen["InSyncSlaveNum"]) == ("1", "1")
    assert int(seen["MasterCommitLogMaxOffset"]) >= log_end > 0
    assert "OK" in master
    seen = facts(replica)
    assert seen["MasterAddr"] == address(group, 1)
    assert int(seen["CommitLogMaxOffset"]) >= log_end
    assert set(epochs_told) == {address(group, 1), address(group, 2)}
    for entries in epochs_told.values():
        [(epoch, start, end)] = entries
        assert (epoch, start) == (1, 0)
        assert end >= log_end


async def test_tools_elect_among_our_agents_and_have_a_dead_one_forgotten(
    group, tool, controller, tmp_path
):
    where = ("-a", controller, "-bn", GROUP, "-c", CLUSTER)

    for _ in range(ATTEMPTS):
        master, epoch, _ = await group.state()
        await group.await_state(master, epoch, {1, 2}, timeout_s=START_TIMEOUT_S)
        wanted = 3 - master
        output = await run_tool(tmp_path, "electMaster", "-b", str(wanted), *where)
        # A tool that gave up waiting has had its way all the same, and says nothing.
        if "#BrokerMasterAddr" in output:
            break
    elected = facts(output)
    assert (elected["BrokerMasterAddr"], elected["MasterEpoch"]) == (
        address(group, wanted),
        str(epoch + 1),
    )
    await group.await_state(wanted, epoch + 1, {1, 2}, timeout_s=START_TIMEOUT_S)

    group.kill(master)
    await group.await_state(wanted, epoch + 1, {wanted}, timeout_s=START_TIMEOUT_S)
    await tool("success", "cleanBrokerMetadata", "-b", str(master), *where)
    output = await tool("#MasterAddr", "getSyncStateSet", "-a", controller, "-b", GROUP)
    known = members(output, "InSyncReplica") | members(output, "NotInSyncReplica")
    assert known == {(wanted, "true")}
