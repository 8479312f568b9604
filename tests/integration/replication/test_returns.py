"""Stores that bring a past with them: an id, a log of before controller mode, epochs ahead."""

import asyncio
import shutil

import pytest
from sqlalchemy import text

from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client
from tests.integration.replication.conftest import GROUP, read_all


async def test_a_broker_that_can_not_register_keeps_its_id(group, database, eventually):  # S23
    agent = await group.add()
    await group.await_state(1, 1, {1})
    group.kill(1)
    identity = (agent.root / "store" / ".broker.meta").read_bytes()
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE replicas RENAME TO away"))

    await group.start(1)
    await eventually(lambda: agent.events("master_awaited"))
    refusal = await group.client(1).send("orders", b"m")
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE away RENAME TO replicas"))

    await group.await_state(1, 2, {1})
    assert refusal.code == 14
    assert (agent.root / "store" / ".broker.meta").read_bytes() == identity
    assert not (agent.root / "store" / ".broker.meta.temp").exists()


@pytest.fixture
async def old_store(tmp_path):
    """Give the store of a broker that was in no controller's group, with three messages."""
    root = tmp_path / "old"
    root.mkdir()
    with Agent(root) as agent:
        client = await agent.start()
        for number in range(3):
            assert (await client.send("orders", b"m%d" % number)).code == 0
        await client.close()
        await asyncio.to_thread(agent.stop)
    return root / "store"


async def test_a_log_of_before_controller_mode_is_gone_on_with_and_copied(
    group, old_store, tmp_path, eventually
):
    """S142; a replica's own copy of such a log is not trusted here, where stock follows with it."""
    copied = tmp_path / "copied"
    shutil.copytree(old_store, copied)

    await group.add(storePathRootDir=str(old_store))
    await group.await_state(1, 1, {1})
    assert (await group.send(1, b"m3")).code == 0
    replica = await group.add(storePathRootDir=str(copied))

    told = "have no epoch in common: give this broker an empty store"
    await eventually(lambda: any(told in line for line in replica.lines))
    assert (await group.state())[2] == {1}
    group.kill(2)
    identity = (copied / ".broker.meta").read_bytes()
    shutil.rmtree(copied)
    copied.mkdir()
    (copied / ".broker.meta").write_bytes(identity)
    await group.start(2)
    await group.await_state(1, 1, {1, 2})

    async def is_whole():
        return await read_all(group.client(2)) == [b"m0", b"m1", b"m2", b"m3"]

    await eventually(is_whole)


async def test_a_log_that_is_ahead_of_its_controller_is_not_served(group, eventually):
    """S143, by I3: stock becomes master of an epoch that its log does not know."""
    agent = await group.add()
    await group.await_state(1, 1, {1})
    group.kill(1)
    await group.start(1)
    await group.await_state(1, 2, {1})
    assert (await group.send(1, b"m")).code == 0
    group.kill(1)
    admin = await Client.connect(group.name_server.port)
    forget = {"brokerName": GROUP, "clusterName": "TestCluster", "isCleanLivingBroker": "true"}
    assert (await admin.call(1011, forget)).code == 0
    await admin.close()
    (agent.root / "store" / ".broker.meta").unlink()

    await group.start(1)

    told = "the controller is in epoch 1, and this log in 2 already"
    await eventually(lambda: any(told in line for line in agent.lines))
    assert (await group.client(1).send("orders", b"m")).code == 14
