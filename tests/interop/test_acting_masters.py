"""Groups without a controller of a broker of stock and one of ours, with our name server."""

from contextlib import AsyncExitStack, ExitStack

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from backend.remoting.request_code import RequestCode
from tests.integration.acting.conftest import FixedGroup
from tests.integration.acting.test_acting import await_read, commit, committed
from tests.integration.broker.client import Client
from tests.integration.broker.popping import bodies, pop, pop_fields, set_mode
from tests.integration.broker.properties import SEGMENT_BYTES
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker
from tests.ports import free_port
from tests.waiting import eventually

PROPERTIES = {
    "brokerClusterName": "TestCluster",
    "brokerName": "broker-t",
    "enableControllerMode": "false",
    "enableSlaveActingMaster": "true",
    "totalReplicas": 2,
    # Else it is not read, and its clients get nothing while it acts.
    "slaveReadEnable": "true",
    "controllerAddr": "",
    "mappedFileSizeCommitLog": SEGMENT_BYTES,
    "timerWheelEnable": "true",
    "mappedFileSizeTimerLog": 1 << 20,
    "brokerHeartbeatInterval": 500,
}

STOCK_COPY_S = 150
"""How long a replica of stock may take until it asks for topics: 60 s and its own start."""


class MixedGroup(FixedGroup):
    """One broker of stock beside one of ours."""

    stock: StockBroker

    async def start_stock(self, broker_id):
        if not hasattr(self, "stock"):
            role = "SLAVE" if broker_id else "ASYNC_MASTER"
            self.stock = StockBroker(
                free_port(),
                controller="",
                name_server=f"127.0.0.1:{self.name_server.port}",
                home=self.root / "stock",
                properties=PROPERTIES | {"brokerId": broker_id, "brokerRole": role},
            )
        await self.stock.start()

        async def connect():
            try:
                return await Client.connect(self.stock.port)
            except OSError:
                return None

        return await eventually(connect, interval_s=0.2)


@pytest.fixture
async def mixed_group(database, redis, tmp_path):
    build()
    async with AsyncExitStack() as servers:
        server = await servers.enter_async_context(
            NameServer.serve("127.0.0.1", 0, database=database, redis=redis, clock=SystemClock())
        )
        with ExitStack() as stack:
            group = MixedGroup(server, tmp_path, stack)
            yield group
            if hasattr(group, "stock"):
                await group.stock.kill()
            for client in [*group.clients.values(), group.admin]:
                if client is not None:
                    client.writer.close()


async def route_of(group, topic, wanted):
    async def shown():
        addresses, permissions = await group.route(topic)
        return (addresses.get(0), permissions) == wanted

    await eventually(shown, interval_s=0.2)


async def test_a_replica_of_stock_acts_for_our_master_and_gives_back_what_it_took(mixed_group):
    master = await mixed_group.add(0)
    await mixed_group.await_members({0})
    replica = await mixed_group.start_stock(1)
    await mixed_group.await_members({0, 1})
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await master.send("orders", b"m1")).code == 0
    assert (await master.send("orders", b"m2")).code == 0
    await await_read(replica, [b"m1", b"m2"], timeout_s=STOCK_COPY_S)

    mixed_group.kill(0)
    await route_of(mixed_group, "orders", (mixed_group.stock.address, 4))
    await replica.heartbeat("g", "orders")
    assert (await commit(replica, 2)).code == 0
    master = await mixed_group.start(0)
    await mixed_group.await_members({0, 1})

    await route_of(mixed_group, "orders", (mixed_group.address(0), 6))
    assert await committed(master) == 2
    assert (await master.send("orders", b"m3")).code == 0
    await await_read(replica, [b"m1", b"m2", b"m3"])


async def test_our_master_refuses_pop_while_a_broker_of_stock_is_in_its_group(mixed_group):
    """RocketMQ does not know what was acknowledged here (D30)."""
    master = await mixed_group.add(0)
    await mixed_group.await_members({0})
    await master.heartbeat("g", "orders")
    assert (await master.send("orders", b"m1")).code == 0
    # The message stays invisible for the whole test.
    assert bodies(await pop(master, "orders", invisibleTime=600_000)) == [b"m1"]

    async def refusal():
        told = await master.call(RequestCode.POP_MESSAGE, pop_fields("orders"))
        return told if told.code == 16 else None

    await mixed_group.start_stock(1)
    await mixed_group.await_members({0, 1})

    told = await eventually(refusal)
    assert f"broker 1, {mixed_group.stock.address}, is of RocketMQ" in told.remark
    assert "Set the mode of the consumer group to PULL" in told.remark
    assert (await set_mode(master, "POP", "orders")).code == 16
    assert (await set_mode(master, "PULL", "orders")).code == 0
    assert (await master.pull("orders")).code == 0

    await mixed_group.stock.kill()
    await mixed_group.await_members({0})

    async def is_served():
        return (await set_mode(master, "POP", "orders")).code == 0

    await eventually(is_served)
    assert await pop(master, "orders") == []


async def test_our_replica_acts_for_a_master_of_stock_and_gives_back_what_it_took(mixed_group):
    master = await mixed_group.start_stock(0)
    await mixed_group.await_members({0})
    replica = await mixed_group.add(1)
    await mixed_group.await_members({0, 1})
    await master.heartbeat("g", "orders")

    async def is_stored():
        return (await master.send("orders", b"m1")).code == 0

    await eventually(is_stored, interval_s=0.2)
    await await_read(replica, [b"m1"])

    await mixed_group.stock.kill()
    await mixed_group.await_acting(1)
    await route_of(mixed_group, "orders", (mixed_group.address(1), 4))
    assert (await replica.heartbeat("g", "orders")).code == 0
    assert (await commit(replica, 1)).code == 0
    master = await mixed_group.start_stock(0)
    await mixed_group.await_members({0, 1})

    await route_of(mixed_group, "orders", (mixed_group.stock.address, 6))
    await eventually(lambda: mixed_group.agents[1].events("acting_master_ended"))
    assert await eventually(lambda: committed(master)) == 1
    assert (await master.send("orders", b"m2")).code == 0
    await await_read(replica, [b"m1", b"m2"])
