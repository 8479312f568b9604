"""Stock's mqadmin against our controller and a group of our agents (control-plane.md 7.5)."""

import re
from contextlib import ExitStack

import pytest

from backend.clients.clock import SystemClock
from backend.domain.replica_group import LeasePolicy
from backend.nameserver.server import NameServer
from backend.remoting.request_code import RequestCode
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.replication.conftest import GROUP, Group
from tests.interop.java import build
from tests.interop.stock_broker import facts, members, run_tool
from tests.long_form import long_form_only
from tests.waiting import eventually

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
            quorum = LeasePolicy.QUORUM
            group = Group(server, tmp_path, stack, stop_controller=None, lease_policy=quorum)
            # A tool is a Java process: while it runs, this machine is slow.
            # Delays are longer than what a message is to be late for takes then.
            slow = {"controllerHeartBeatTimeoutMills": "20000", "messageDelayLevel": "6s"}
            await group.add_many(2, **slow)
            yield group
            for client in [*group.clients, group.admin]:
                if client is not None:
                    client.writer.close()


@pytest.fixture
def tool(tmp_path):
    """Run a tool until it prints a line of facts that is wanted.

    A tool waits 3 s for an answer, in which its classes are loaded; a busy machine takes longer.
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
    epochs_reported = epochs(await tool("#Epoch", "getBrokerEpoch", "-n", controller, "-b", GROUP))

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
    assert set(epochs_reported) == {address(group, 1), address(group, 2)}
    for entries in epochs_reported.values():
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


@long_form_only
async def test_tools_show_rates_and_places_and_clean_queues_without_a_topic(
    group, tool, controller
):
    server = ("-n", controller)
    master = group.client(1)
    for body in (b"one", b"two", b"three"):
        assert (await group.send(1, body)).code == 0
    await master.heartbeat("g", "orders")
    await master.pull("orders")
    place = {"consumerGroup": "g", "topic": "orders", "queueId": 0, "commitOffset": 2}
    assert (await master.call(RequestCode.UPDATE_CONSUMER_OFFSET, place)).code == 0
    # A delayed message is delivered to a topic that is deleted at that time.
    assert (await master.send("Gone", b"late", properties={"DELAY": "1"})).code == 0
    await delete_and_await_delivery(group, "Gone")

    stats = await tool("orders  ", "statsAll", *server, "-t", "orders")
    places = await tool("Diff Total", "brokerConsumeStats", *server, "-b", address(group, 1))
    cleaned = await tool("success", "cleanUnusedTopic", *server, "-c", CLUSTER)

    [row] = [line.split() for line in stats.splitlines() if line.startswith("orders ")]
    assert (row[1], int(row[2])) == ("g", 1)
    assert float(row[3]) > 0
    assert float(row[4]) > 0
    assert [int(count) for count in row[5:]] == [3, 3]
    [row] = [line.split() for line in places.splitlines() if line.startswith("orders ")]
    assert row[1:7] == ["g", GROUP, "0", "3", "2", "1"]
    assert "Diff Total: 1" in places
    assert "Exception" not in cleaned
    await await_folders(group, "Gone", are_there=False)


async def delete_and_await_delivery(group, topic):
    await group.client(1).call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": topic})
    await await_folders(group, topic, are_there=True)


async def await_folders(group, topic, *, are_there):
    """Wait until both brokers have queues of a topic, or neither."""
    folders = [agent.root / "store" / "consumequeue" / topic for agent in group.agents]
    await eventually(
        lambda: all(one.exists() == are_there for one in folders), timeout_s=START_TIMEOUT_S
    )


@long_form_only
async def test_a_tool_that_deletes_a_group_with_its_offsets_leaves_no_retries(
    group, tool, controller
):
    master = group.client(1)
    assert (await group.send(1, b"x")).code == 0
    await master.heartbeat("g", "orders")
    for topic in ("%RETRY%g", "%DLQ%g"):
        assert (await master.send(topic, b"failed", j=1)).code == 0

    await tool(
        "success",
        "deleteSubGroup",
        "-n",
        controller,
        "-b",
        address(group, 1),
        "-g",
        "g",
        "-r",
        "true",
    )

    for topic in ("%RETRY%g", "%DLQ%g"):
        await await_folders(group, topic, are_there=False)
        told = await master.call(RequestCode.GET_TOPIC_CONFIG, {"topic": topic})
        assert told.code == 17


async def test_a_group_is_deleted_with_its_topics_on_all_brokers_of_a_cluster(group, tool):
    body = b'{"groupName":"g"}'
    client = group.client(1)
    made = await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)
    assert made.code == 0
    for topic in ("%RETRY%g", "%DLQ%g"):
        assert (await client.call(17, create_fields(topic))).code == 0

    # It has the replica, too, delete the topics, which passes that on (ADR 14).
    names = ("-n", group.name_server.address, "-c", CLUSTER, "-g", "g", "-r", "true")
    output = await tool("success", "deleteSubGroup", *names)

    topics = await client.call(RequestCode.GET_ALL_TOPIC_CONFIG)
    groups = await client.call(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    assert "Exception" not in output
    assert b"%RETRY%g" not in topics.body + groups.body
    assert b"%DLQ%g" not in topics.body
