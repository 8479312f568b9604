"""Delayed messages that are due at a replica in a container with the master of another group."""

import asyncio

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.acting.conftest import LONG_DELAYS
from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_members import figures
from tests.integration.broker.agent import LISTENING_AT, Agent
from tests.integration.broker.client import Client, messages
from tests.integration.broker.containers import write_broker, write_container
from tests.ports import free_port
from tests.waiting import eventually

ACTING = {
    "enableSlaveActingMaster": "true",
    "totalReplicas": "2",
    "brokerHeartbeatInterval": "200",
    "brokerNotActiveTimeoutMillis": "30000",
    "syncBrokerMemberGroupPeriod": "200",
    "haSendHeartbeatInterval": "1000",
    "timerPrecisionMs": "100",
}


@pytest.fixture
async def container(fixed_group, tmp_path):
    """A container of replica 1 of broker-t and of the master of broker-u; give its clients.

    The master of broker-t is in another process.
    """
    await fixed_group.add(0, **LONG_DELAYS)
    await fixed_group.await_members({0})
    ports = {"broker-t": free_port(), "broker-u": free_port()}
    replica = write_broker(
        tmp_path,
        "broker-t",
        **ACTING,
        brokerId="1",
        brokerRole="SLAVE",
        listenPort=str(ports["broker-t"]),
    )
    other = write_broker(
        tmp_path, "broker-u", listenPort=str(ports["broker-u"]), defaultTopicQueueNums="1"
    )
    agent = Agent(tmp_path, program="workers.broker.container", started_event="container_started")
    with agent:
        path = write_container(
            tmp_path,
            replica,
            other,
            listenPort=str(free_port()),
            namesrvAddr=f"127.0.0.1:{fixed_group.name_server.port}",
        )
        await asyncio.to_thread(agent.launch, path)
        clients = {name: await Client.connect(port) for name, port in ports.items()}
        await fixed_group.await_members({0, 1})
        yield agent, clients
        for client in clients.values():
            await client.close()
        await asyncio.to_thread(agent.stop)


async def await_copy(master, replica):
    """Wait until the replica has all of its master's log."""

    async def is_there():
        reported, shown = await master.call(906), await figures(replica)
        return int(reported.ext["masterMaxOffset"]) == int(shown["commitLogMaxOffset"])

    await eventually(is_there)


async def test_a_due_message_goes_to_a_master_in_the_same_process(fixed_group, container):  # S127
    agent, clients = container
    replica, other = clients["broker-t"], clients["broker-u"]
    # Without remote escape: no request to another broker is allowed.
    master = fixed_group.clients[0]
    assert (await other.send("orders", b"there")).code == 0
    delayed = await master.send("orders", b"later", properties={"DELAY": "6", "UNIQ_KEY": "K"})
    assert delayed.code == 0
    await await_copy(master, replica)

    fixed_group.kill(0)
    await eventually(lambda: agent.events("acting_master_began"))
    await await_read(other, [b"there", b"later"])

    escaped = messages(await other.pull("orders"))[1].properties
    assert escaped["REGENT_ESCAPED_FROM"].startswith("TestCluster/broker-t/")
    assert escaped["UNIQ_KEY"] == "K"
    assert (await figures(replica))["escapedCount"] == "1"
    # Its own master has it no more: it is acknowledged there.
    assert agent.events("message_not_escaped") == []


async def test_a_due_message_waits_until_a_local_master_takes_its_topic(fixed_group, container):
    agent, clients = container
    replica, other = clients["broker-t"], clients["broker-u"]
    master = fixed_group.clients[0]
    assert (await master.send("orders", b"later", properties={"DELAY": "1"})).code == 0
    await await_copy(master, replica)
    fixed_group.kill(0)
    await eventually(lambda: agent.events("message_not_escaped"))
    assert (await figures(replica))["escapedCount"] == "0"

    assert (await other.send("orders", b"there")).code == 0

    await await_read(other, [b"there", b"later"])


async def test_a_removed_replica_leaves_the_other_broker_alone(fixed_group, container):
    agent, clients = container
    tool = await Client.connect(container_port(agent))
    removed = await tool.call(
        RequestCode.REMOVE_BROKER,
        {"brokerName": "broker-t", "brokerClusterName": "TestCluster", "brokerId": 1},
    )
    await tool.close()

    assert removed.code == 0
    await fixed_group.await_members({0})
    assert (await clients["broker-u"].send("orders", b"1")).code == 0


def container_port(agent):
    (started,) = agent.events("container_started")
    return int(LISTENING_AT.search(started)[1])
