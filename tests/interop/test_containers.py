"""Stock's addBroker and removeBroker against a container of ours (control-plane.md 7.5)."""

import pytest

from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client
from tests.integration.broker.containers import described, listed, write_broker, write_container
from tests.interop.java import build
from tests.interop.stock_broker import run_tool
from tests.ports import free_port

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]


@pytest.fixture
async def container(tmp_path):
    """A container with the broker `a`."""
    build()
    agent = Agent(tmp_path, program="workers.broker.container", started_event="container_started")
    with agent:
        port = free_port()
        path = write_container(tmp_path, write_broker(tmp_path, "a"), listenPort=str(port))
        tool = await agent.start_with(path)
        yield agent, tool
        await tool.close()
        agent.stop()


async def test_stock_tools_add_and_remove_a_broker(container, tmp_path):
    agent, tool = container
    address, port = f"127.0.0.1:{agent.port}", free_port()
    path = write_broker(tmp_path, "b", listenPort=str(port))

    added = await run_tool(tmp_path, "addBroker", "-c", address, "-b", str(path))
    client = await Client.connect(port)
    sent = await client.send("orders", b"1")
    await client.close()
    brokers, names = set(await described(tool)), listed(tmp_path / "container.conf")
    removed = await run_tool(tmp_path, "removeBroker", "-c", address, "-b", "TestCluster:b:0")

    assert f"add broker to {address} success" in added
    assert sent.code == 0
    assert brokers == {"a", "b"} == set(names)
    assert f"remove broker from {address} success" in removed
    assert set(await described(tool)) == {"a"}
    assert listed(tmp_path / "container.conf") == ["a"]
    with pytest.raises(ConnectionRefusedError):
        await Client.connect(port)


async def test_stock_tools_show_why_a_container_refuses(container, tmp_path):  # S135, S136
    agent, tool = container
    address, path = f"127.0.0.1:{agent.port}", tmp_path / "a" / "broker.conf"

    again = await run_tool(tmp_path, "addBroker", "-c", address, "-b", str(path))
    missing = await run_tool(tmp_path, "addBroker", "-c", address, "-b", str(tmp_path / "no"))
    unknown = await run_tool(tmp_path, "removeBroker", "-c", address, "-b", "TestCluster:x:0")

    assert "CODE: 1" in again
    assert "TestCluster_a_0 has already been added to current broker container" in again
    assert "addBroker properties empty" in missing
    assert "CODE: 211" in unknown
    assert "Broker not exist" in unknown
    assert set(await described(tool)) == {"a"}


async def test_stock_tools_read_the_settings_of_a_container(container, tmp_path):
    agent, _ = container

    output = await run_tool(tmp_path, "getBrokerConfig", "-b", f"127.0.0.1:{agent.port}")

    assert f"brokerConfigPaths={tmp_path / 'a' / 'broker.conf'}" in output.replace(" ", "")
