"""Groups, clients and messages of an agent and of a stock broker, with the stock client at both."""

import asyncio
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.domain.client import ClientFilter, version_name
from backend.domain.message import DeliveryState
from backend.nameserver.server import NameServer
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.consumer_group.clients import list_clients
from backend.services.consumer_group.consumer_group_details import describe_consumer_group
from backend.services.consumer_group.consumer_groups import list_consumer_groups
from backend.services.message.message_browsing import Browsing, browse_messages
from backend.services.message.message_deliveries import describe_deliveries
from backend.services.message.messages import KeySearch, find_messages, get_message
from tests.integration.broker.agent import Agent
from tests.interop.client import StockClient
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker
from tests.long_form import few
from tests.pools import opened_database
from tests.ports import free_port
from tests.waiting import eventually

pytestmark = [
    pytest.mark.interop,
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
]

START_TIMEOUT_S = 150
SEEN_TIMEOUT_S = 60
COUNT, MORE = 200, 37
STOCK = {
    "enableControllerMode": "false",
    "brokerId": 0,
    "brokerRole": "ASYNC_MASTER",
    "timerWheelEnable": "true",
}


class Cluster:
    """A name server with one broker, and what the use cases ask it with."""

    def __init__(self, database, server, brokers, client):
        self.server, self.client = server, client
        self.stores = {"database": database, "brokers": brokers}
        self.asked = self.stores | {"clock": SystemClock()}
        self.client_snapshots = ClientSnapshots(
            database, brokers, SystemClock(), kept_for_s=0, patience_s=60
        )
        self.by_snapshot = {
            "client_snapshots": self.client_snapshots,
            "brokers": brokers,
            "clock": SystemClock(),
        }

    async def run(self, scenario, **options):
        return await asyncio.to_thread(self.client.run, scenario, **options)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=few(["agent", "stock"], 1))
async def cluster(request, shared_database_url, redis_server_url, tmp_path_factory):
    """A broker that the tests share: each has its own topic and its own consumer group."""
    await asyncio.to_thread(build)
    root = tmp_path_factory.mktemp("broker")
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(
            opened_database(shared_database_url, application_name="tests")
        )
        redis = await stack.enter_async_context(Redis.from_url(redis_server_url))
        await redis.flushall()
        stores = {"database": database, "redis": redis, "clock": SystemClock()}
        server = await stack.enter_async_context(NameServer.serve("127.0.0.1", 0, **stores))
        if request.param == "stock":
            broker = StockBroker(free_port(), server.address, root / "b", properties=STOCK)
            stack.push_async_callback(broker.kill)
            await broker.start()
        else:
            (root / "b").mkdir()
            settings = {"brokerName": "g", "brokerClusterName": "c"}
            agent = Agent(root / "b", settings | {"namesrvAddr": server.address})
            admin = await stack.enter_context(agent).start()
            stack.callback(admin.writer.close)
        await eventually(lambda: server.find_route("TBW102") is not None, timeout_s=START_TIMEOUT_S)
        remoting = RemotingClient()
        stack.push_async_callback(remoting.aclose)
        (root / "java").mkdir()
        client = StockClient("5.5.0", server.address, root / "java")
        yield Cluster(database, server, Brokers(remoting), client)


async def test_groups_clients_and_messages_are_shown_as_they_are(cluster):
    await cluster.run("send", mode="sync", topic="orders", count=COUNT)
    stay = {"expect": f"orders=0:{COUNT}", "timeout_ms": 120_000, "quiet_ms": 3_600_000}

    async def describe():
        return await describe_consumer_group("c", "billing", **cluster.by_snapshot)

    async def has_read_all():
        try:
            found = await describe()
        except Exception:  # noqa: BLE001 - whatever is not known yet
            return None
        read = [one for one in found.queues if one.topic == "orders"]
        # The retry topic takes as long as the client's next look at its route.
        is_read = sum(one.committed or 0 for one in read) == COUNT
        return found if is_read and all(one.owner for one in read) else None

    with cluster.client.start("consume", group="billing", **stay) as reading:
        online = await eventually(has_read_all, timeout_s=SEEN_TIMEOUT_S, interval_s=0.2)
        clients = await list_clients(
            "c", ClientFilter(group="billing"), size=10, after=None, **cluster.by_snapshot
        )
        reading.write_line("stop")
        await asyncio.to_thread(reading.result)

    async def has_left():
        return (await describe()).observation.state == "inactive"

    await eventually(has_left, timeout_s=SEEN_TIMEOUT_S, interval_s=0.2)
    await cluster.run("send", mode="sync", topic="orders", first=COUNT, count=MORE)
    behind = await describe()
    listed = await list_consumer_groups(
        "c", size=10, after=None, client_snapshots=cluster.client_snapshots
    )

    (member,) = online.members
    assert online.models == ("clustering",)
    assert online.subscriptions["orders"] == ("*",)
    queues = [one for one in online.queues if one.topic == "orders"]
    assert {one.owner for one in queues} == {member.member.client_id}
    assert sum(one.lag for one in queues) == 0
    assert sum(one.end for one in queues) == COUNT
    assert online.observation.lag.waiting_ms == 0
    assert version_name(member.member.version) == "5.5.0"
    (client,) = clients.page.items
    assert client.client_id == member.member.client_id
    assert client.consumer_groups == ("billing",)
    assert (clients.unknown, behind.unknown) == ((), ())

    lag = behind.observation.lag
    assert (lag.message_count, lag.is_complete) == (MORE, True)
    assert 0 < lag.waiting_ms < SEEN_TIMEOUT_S * 1_000
    assert behind.dead_letter_count == 0
    assert "billing" in {one.name for one in listed.page.items}


async def test_a_message_is_found_each_way_and_judged(cluster):
    await cluster.run("send", mode="sync", topic="payments", count=COUNT)
    await cluster.run("consume", group="booking", expect=f"payments=0:{COUNT}")
    await cluster.run("send", mode="sync", topic="payments", first=COUNT, count=1)

    async def is_known():
        try:
            page = await browse_messages(
                Browsing("c", "payments"), size=1, after=None, **cluster.asked
            )
        except Exception:  # noqa: BLE001 - the topic is not written yet
            return False
        return page.messages

    await eventually(is_known, timeout_s=SEEN_TIMEOUT_S, interval_s=0.2)
    found, after, has_more = [], None, True
    while has_more:
        page = await browse_messages(
            Browsing("c", "payments"), size=32, after=after, **cluster.asked
        )
        found += page.messages
        after, has_more = page.next_key, page.has_more
    keys = [one.keys[0] for one in found]
    assert sorted(keys) == sorted(f"payments#{number}" for number in range(COUNT + 1))
    wanted, unread = (
        next(one for one in found if one.keys[0] == f"payments#{number}") for number in (40, COUNT)
    )

    async def is_indexed():
        told = await find_messages(KeySearch("c", "payments", unread.keys[0]), **cluster.stores)
        return [one.order for one in told.messages] == [unread.order]

    await eventually(is_indexed, timeout_s=SEEN_TIMEOUT_S, interval_s=0.2)
    by_id = await get_message("c", wanted.message_id, **cluster.stores)
    by_sender = await get_message("c", wanted.unique_key, topic="payments", **cluster.stores)
    by_key = await find_messages(KeySearch("c", "payments", wanted.keys[0]), **cluster.stores)
    by_unique = await find_messages(
        KeySearch("c", "payments", wanted.unique_key, is_unique=True), **cluster.stores
    )
    place = Browsing("c", "payments", "g", wanted.queue_id, offset=wanted.queue_offset)
    by_offset = await browse_messages(place, size=1, after=None, **cluster.asked)
    moment = Browsing("c", "payments", begin_ms=unread.stored_at_ms)
    by_time = await browse_messages(moment, size=32, after=None, **cluster.asked)

    ways = [by_id, by_sender, *by_key.messages, *by_unique.messages, *by_offset.messages]
    assert ways == [wanted] * 5
    assert unread in by_time.messages
    assert all(one.stored_at_ms >= unread.stored_at_ms for one in by_time.messages)
    judged = [await describe_deliveries("c", one, **cluster.stores) for one in (wanted, unread)]
    states = [{one.consumer_group_name: one.state for one in told.deliveries} for told in judged]
    assert states == [
        {"booking": DeliveryState.CONSUMED},
        {"booking": DeliveryState.PENDING},
    ]
