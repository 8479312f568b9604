"""A name server and the agents of two broker groups, and workers that may die at any point."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.db import brokers as broker_rows
from backend.domain.operation import Author, Confirmation, OperationState
from backend.nameserver.server import NameServer
from backend.operations.engine import following, orders
from backend.operations.engine.engine import run_operation
from backend.operations.engine.kind import OperationContext, OperationRequest
from backend.remoting.request_code import RequestCode
from backend.services.controller.group_changes import Controller
from tests.integration.broker.agent import write_config
from tests.integration.broker.client import Client
from tests.integration.operations.crashing import Crash, World
from tests.waiting import eventually
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import load_settings
from workers.broker.server import BrokerServer

ANNA = Author("anna", "test")
CLUSTER = "c"
NAMES = ("broker-a", "broker-b")
CHANGING = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.DELETE_TOPIC_IN_BROKER,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        RequestCode.UPDATE_BROKER_CONFIG,
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.RELEASE_QUEUE_LOCKS,
        RequestCode.RELEASE_SHARE_MESSAGES,
        RequestCode.COMPACT_SHARE_QUEUES,
        RequestCode.SET_MESSAGE_REQUEST_MODE,
        RequestCode.SEND_MESSAGE,
        RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
        RequestCode.PREPARE_LOGICAL_QUEUE,
        RequestCode.SEAL_LOGICAL_QUEUE,
        RequestCode.UNSEAL_LOGICAL_QUEUE,
        RequestCode.DISCARD_LOGICAL_QUEUE,
        RequestCode.RETIRE_PHYSICAL_QUEUE,
        RequestCode.DECIDE_TRANSACTION,
        RequestCode.RECALL_MESSAGE,
        RequestCode.ADD_BROKER,
        RequestCode.REMOVE_BROKER,
    }
)


class Wire(RemotingClient):
    """A client whose process may die right before a change leaves, and right after its answer."""

    def __init__(self, tripwire):
        super().__init__()
        self._tripwire = tripwire
        self.asked = []

    async def request(self, address, code, *, ext=None, body=b"", **more):
        self.asked.append(code)
        if code not in CHANGING:
            return await super().request(address, code, ext=ext, body=body, **more)
        self._tripwire.point("before the effect")
        answer = await super().request(address, code, ext=ext, body=body, **more)
        self._tripwire.point("after the effect")
        return answer


class Operator:
    """Order operations, and carry them out as workers that may die."""

    def __init__(self, database, heartbeat_source, *, cluster_name=CLUSTER, client=None):
        self.database, self.cluster_name = database, cluster_name
        self.world = World(database)
        self.client = client or Wire(self.world.wire)
        controller = Controller(
            database, self.world.clock, heartbeat_source, brokers=Brokers(self.client)
        )
        self.context = OperationContext(database, self.world.clock, self.world.queue, controller)

    async def plan(self, kind, *, key=None, **parameters):
        request = OperationRequest(kind, {"cluster_name": self.cluster_name, **parameters})
        return await orders.plan_operation(request, ANNA, self.context, key=key)

    async def confirm(self, planned, *, key=None):
        given = Confirmation(planned.target, "why", accepts_loss=True)
        return await orders.confirm_operation(planned.id, given, ANNA, self.context, key=key)

    async def run(self, operation_id, fatal=None, act=None):
        """Continue, past what holds it up, and return whether the worker lives."""
        self.world.clock.advance(seconds=11)
        self.world.wire.arm(fatal, act)
        try:
            await run_operation(operation_id, self.context)
        except Crash:
            return False
        finally:
            self.world.wire.disarm()
        return True

    async def order(self, kind, **parameters):
        """Plan, confirm and carry out; give the operation as it ended."""
        planned = await self.plan(kind, **parameters)
        await self.confirm(planned)
        return await self.finish(planned.id)

    async def finish(self, operation_id):
        """Carry an operation out to its end: a step waits until name servers know of a change."""

        async def ended():
            found = await self.end(operation_id)
            return None if found.state in {OperationState.RUNNING, OperationState.QUEUED} else found

        return await eventually(ended)

    async def end(self, operation_id):
        assert await self.run(operation_id)
        return await self.look(operation_id)

    async def look(self, operation_id):
        return await orders.describe_operation(operation_id, self.context)

    async def undo(self, operation):
        planned = await following.undo_operation(operation.id, ANNA, self.context)
        await self.confirm(planned)
        return await self.finish(planned.id)


class Agents(Operator):
    """What tests do with the agents, and what they see of them."""

    def __init__(self, database, server, brokers, root, stack):
        super().__init__(database, server.controller.heartbeat_source)
        self.server, self.root, self._stack = server, root, stack
        self.brokers = brokers

    def agent(self, name="broker-a"):
        return self.brokers[name].broker

    async def stop(self, name):
        await self.brokers[name].close()

    async def start(self, name):
        """Start an agent that was stopped, with what is on its disk."""
        self.brokers[name] = await _start(name, self.root, self.server, self._stack)

    async def call(self, code, ext=None, body=b"", *, name="broker-a"):
        client = await Client.connect(self.brokers[name].port)
        try:
            answer = await client.call(code, ext, body)
            assert answer.code == 0, answer.remark
            return answer
        finally:
            await client.close()

    async def send(self, topic, count, *, name="broker-a", queue_id=0):
        client = await Client.connect(self.brokers[name].port)
        for number in range(count):
            assert (await client.send(topic, b"%d" % number, queue_id=queue_id)).code == 0
        await client.close()


@asynccontextmanager
async def running_agents(
    database, workers_database, redis, root, clock, *, names=NAMES, **properties
):
    """Run them; the workers have a separate pool, so that only they die at its commits."""
    async with AsyncExitStack() as stack:
        stores = {"database": database, "redis": redis, "clock": clock}
        server = await stack.enter_async_context(NameServer.serve("127.0.0.1", 0, **stores))
        brokers = {}
        for name in names:
            brokers[name] = await _start(name, root, server, stack, **properties)

        async def are_known():
            async with database.connect() as connection:
                known = await broker_rows.list_masters(connection, CLUSTER)
            return len([one for one in known if one.is_online]) == len(names)

        await eventually(are_known)
        agents = Agents(workers_database, server, brokers, root, stack)
        yield agents
        await agents.client.aclose()


async def _start(name, root, server, stack, **properties):
    folder = root / name
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    names = {"brokerClusterName": CLUSTER, "brokerName": name, "namesrvAddr": server.address}
    path = write_config(folder, **names, **properties)
    loaded = load_settings(path)
    broker = BrokerServer(loaded.settings, given=loaded.given, config_file=ConfigFile(path))
    stack.push_async_callback(broker.close)
    await broker.start()
    return broker
