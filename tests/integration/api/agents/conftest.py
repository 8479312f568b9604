"""The HTTP door over a separate name server and broker agent, as processes and sockets."""

import asyncio
import time
from contextlib import AsyncExitStack
from uuid import UUID

import pytest
from sqlalchemy import update

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.db.operation_tables import operations
from backend.nameserver.server import NameServer
from backend.operations.engine.engine import run_operation
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.api.ordering import OPS, V1
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client
from tests.waiting import PATIENCE_S

CLUSTER, GROUP = "c", "broker-a"


@pytest.fixture
async def name_server(database, redis):
    async with NameServer.serve(
        "127.0.0.1", 0, database=database, redis=redis, clock=SystemClock()
    ) as server:
        yield server


@pytest.fixture
async def brokers():
    client = RemotingClient()
    yield Brokers(client)
    await client.aclose()


class Broker:
    """One agent, and clients of it."""

    def __init__(self, agent, client, stack):
        self.agent, self.client, self._stack = agent, client, stack

    @property
    def address(self):
        return f"127.0.0.1:{self.agent.port}"

    async def connect(self):
        client = await Client.connect(self.agent.port)
        self._stack.push_async_callback(_close, client)
        return client

    async def member(self, client_id, *topics, group="billing"):
        client = await self.connect()
        await client.heartbeat(group, *(topics or ("orders",)), client_id=client_id)
        return client

    async def lock(self, client, client_id, *queue_ids, topic="orders", group="billing"):
        queues = [{"topic": topic, "brokerName": GROUP, "queueId": one} for one in queue_ids]
        wish = {"clientId": client_id, "consumerGroup": group, "mqSet": queues}
        answer = await client.call(RequestCode.LOCK_BATCH_MQ, body=java_json.encode(wish))
        return [one["queueId"] for one in java_json.loads(answer.body)["lockOKMQSet"]]

    async def send(self, count=1, *, topic="orders", queue_id=0):
        for _ in range(count):
            answer = await self.client.send(topic, b"x", queue_id=queue_id)
            assert answer.code == 0, answer.remark

    async def commit(self, offset, *, topic="orders", queue_id=0, group="billing"):
        fields = {"topic": topic, "queueId": queue_id, "consumerGroup": group}
        answer = await self.client.call(
            RequestCode.UPDATE_CONSUMER_OFFSET, fields | {"commitOffset": offset}
        )
        assert answer.code == 0, answer.remark


async def _close(client):
    client.writer.close()


@pytest.fixture
async def broker(name_server, tmp_path, client):
    """An agent that is registered, with the topic orders of four queues."""
    settings = {
        "brokerName": GROUP,
        "brokerClusterName": CLUSTER,
        "namesrvAddr": f"127.0.0.1:{name_server.describe().address.rpartition(':')[2]}",
        "brokerHeartbeatInterval": "200",
    }
    root = tmp_path / "agent"
    root.mkdir()
    with Agent(root, settings, is_forked=True) as agent:
        async with AsyncExitStack() as stack:
            admin = await agent.start()
            stack.push_async_callback(_close, admin)
            made = Broker(agent, admin, stack)
            await made.send()

            async def is_known():
                answer = await client.get(f"{V1}/clusters/{CLUSTER}/topics/orders")
                return answer.status_code == 200 and answer.json()["placements"]

            await until(is_known, "the topic is not known")
            yield made


async def until(holds, what):
    deadline = time.monotonic() + PATIENCE_S
    while not await holds():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.02)


@pytest.fixture
def get(client):
    async def read(path, status=200, **parameters):
        answer = await client.get(V1 + path, params=parameters)
        assert answer.status_code == status, answer.text
        return answer.json()

    return read


@pytest.fixture
def go_on(client, context, database):
    """Have a worker look at an operation now, and give it as it is then."""

    async def look(operation):
        async with database.begin() as connection:
            await connection.execute(
                update(operations)
                .where(operations.c.id == UUID(operation["id"]), operations.c.state == "queued")
                .values(not_before=context.clock.now())
            )
        await run_operation(UUID(operation["id"]), context.operations)
        return (await client.get(f"{OPS}/{operation['id']}")).json()

    return look


@pytest.fixture
def order(plan, act, go_on):
    """Plan, confirm and carry out, up to where it waits or has ended."""

    async def carry(kind, given=None, **parameters):
        planned = await plan(kind, **{"cluster_name": CLUSTER, **parameters})
        name = {"typed_name": planned["target"], "reason": "why", "accepts_loss": True}
        await act(planned, "confirm", name if given is None else given)
        return await go_on(planned)

    return carry
