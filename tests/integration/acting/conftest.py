"""A real name server, and the agents of a group without a controller as processes."""

import asyncio
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests import processes
from tests.integration.broker.agent import Agent, write_config
from tests.integration.broker.client import Client
from tests.ports import free_port
from tests.waiting import eventually

GROUP = "broker-t"
SHORT_DELAYS = {"messageDelayLevel": "1s 1s 1s 1s 1s 2s"}
LONG_DELAYS = {"messageDelayLevel": "12s 12s 12s 12s 12s 12s"}
"""For a master that a test kills before its delayed messages are due, however busy the machine is.

Its replica keeps short delays, and so has messages that are due soon after it acts.
"""

LONG_DELAY_MS = 12_000
"""The same for messages with a time."""


def content_of(path):
    """Return the content of a state file; nothing while the file is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@dataclass
class FixedGroup:
    """The agents of one group by their ids; 0 is the master."""

    name_server: NameServer
    root: Path
    stack: ExitStack
    agents: dict[int, Agent] = field(default_factory=dict)
    clients: dict[int, Client] = field(default_factory=dict)
    admin: Client | None = None

    async def add(self, broker_id, *, name=GROUP, **properties):
        """Start a member; a master of another group has another name."""
        key = broker_id if name == GROUP else name
        root = self.root / f"{name}-{broker_id}"
        root.mkdir()
        agent = self.stack.enter_context(Agent(root, is_forked=True))
        agent.port, agent.ha_port = free_port(), free_port()
        agent.settings = {
            "namesrvAddr": f"127.0.0.1:{self.name_server.port}",
            "brokerName": name,
            "brokerId": str(broker_id),
            "brokerRole": "SLAVE" if broker_id else "ASYNC_MASTER",
            "enableSlaveActingMaster": "true",
            "totalReplicas": "2",
            "brokerHeartbeatInterval": "200",
            "brokerNotActiveTimeoutMillis": "30000",
            "syncBrokerMemberGroupPeriod": "200",
            "haSendHeartbeatInterval": "1000",
            "timerPrecisionMs": "100",
            "listenPort": str(agent.port),
            "haListenPort": str(agent.ha_port),
        } | properties
        self.agents[key] = agent
        return await self.start(key)

    async def start(self, key, **properties):
        agent = self.agents[key]
        path = write_config(agent.root, **agent.settings | properties)
        await asyncio.to_thread(agent.launch, path)
        client = self.clients[key] = await Client.connect(agent.port)
        return client

    async def add_pair(self, *, of_master=None, **properties):
        """Start a master and a replica that copies its log; return their clients.

        Some properties are those of the master only.
        """
        master = await self.add(0, **properties | (of_master or {}))
        await self.await_members({0})
        replica = await self.add(1, **properties)
        await self.await_members({0, 1})
        await self.await_copy(1)
        return master, replica

    async def members(self, name=GROUP):
        """The members that the name server knows, by id."""
        header = {"clusterName": "TestCluster", "brokerName": name}
        answer = await self.ask(RequestCode.GET_BROKER_MEMBER_GROUP, header)
        return {
            int(key): address
            for key, address in java_json.loads(answer.body)["brokerMemberGroup"][
                "brokerAddrs"
            ].items()
        }

    async def await_members(self, ids, name=GROUP):
        async def known():
            return set(await self.members(name)) == ids

        await eventually(known)

    async def await_copy(self, key):
        """Wait until a replica has all of its master's log."""

        async def ends():
            told = await self.clients[0].call(906)
            status = java_json.loads((await self.clients[key].call(907)).body)
            end = int(told.ext["masterMaxOffset"])
            return status["haClientRuntimeInfo"]["maxOffset"] == end

        await eventually(ends)

    async def await_saved(self, key, offset):
        """Wait until the file of a replica that acts has what group `g` committed there."""
        path = self.agents[key].root / "store" / "config" / "consumerOffset.json"

        def has_offset():
            stored = java_json.loads(content_of(path) or b"{}")
            is_acted = "orders@g" in stored.get("regentActed", {})
            return is_acted and stored["offsetTable"]["orders@g"]["0"] == offset

        await eventually(has_offset)

    async def await_acting(self, key):
        await eventually(lambda: self.agents[key].events("acting_master_began"))

    async def route(self, topic):
        """The route that clients get: the brokers by id, and the permission."""
        answer = await self.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
        if answer.code:
            return {}, 0
        data = java_json.loads(answer.body)
        addresses = data["brokerDatas"][0]["brokerAddrs"]
        return {int(key): one for key, one in addresses.items()}, data["queueDatas"][0]["perm"]

    async def ask(self, code, ext):
        if self.admin is None:
            self.admin = await Client.connect(self.name_server.port)
        return await self.admin.call(code, ext)

    def kill(self, key):
        self.agents[key].kill()

    async def stop(self, key):
        """Stop an agent cleanly, while the name server in this process goes on."""
        await asyncio.to_thread(self.agents[key].stop)

    async def pause(self, key):
        await processes.pause(self.agents[key].process.pid)

    def address(self, key):
        return f"127.0.0.1:{self.agents[key].port}"

    async def await_equal_logs(self):
        """Wait until master and replica hold the same: pulls make the master record groups."""
        await eventually(lambda: self.log_bytes(0) == self.log_bytes(1))

    def log_bytes(self, key):
        folder = self.agents[key].root / "store" / "commitlog"
        return b"".join(path.read_bytes() for path in sorted(folder.glob("0*")))


@pytest.fixture
async def fixed_group(database, redis, tmp_path):
    async with AsyncExitStack() as servers:
        server = await servers.enter_async_context(
            NameServer.serve("127.0.0.1", 0, database=database, redis=redis, clock=SystemClock())
        )
        with ExitStack() as stack:
            group = FixedGroup(server, tmp_path, stack)
            yield group
            for client in [*group.clients.values(), group.admin]:
                if client is not None:
                    client.writer.close()
