"""A control plane over a real Postgres, and the agents of one broker group as processes."""

import asyncio
import json
import re
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.replication import HandOver
from backend.clients.clock import SystemClock
from backend.domain.replica_group import LeasePolicy
from backend.nameserver.server import NameServer
from tests import processes
from tests.integration.broker.agent import Agent, write_config
from tests.integration.broker.client import Client, messages
from tests.ports import free_port
from tests.waiting import PATIENCE_S, poll_s

GROUP = "broker-t"


@dataclass
class Group:
    """The agents of one group, by the order of their first start."""

    name_server: NameServer
    root: Path
    stack: ExitStack
    stop_controller: Callable[[], Awaitable[None]]
    lease_policy: LeasePolicy
    name: str = GROUP
    agents: list[Agent] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)
    admin: Client | None = None
    hurried: list[str] = field(default_factory=list)
    """Why masters were replaced that could not have all confirmed in the short time they have."""

    async def add_many(self, count, **properties):
        """Add agents that are all in sync; the first is master."""
        for _ in range(count):
            await self.add(**properties)
            await self.await_state(1, 1, set(range(1, len(self.agents) + 1)))

    async def add(self, **properties):
        number = len(self.agents) + 1
        root = self.root / f"b{number}"
        root.mkdir()
        agent = self.stack.enter_context(Agent(root, is_forked=True))
        agent.settings = group_settings(self.name_server.port, self.lease_policy)
        agent.settings |= {"brokerName": self.name} | properties
        self.agents.append(agent)
        self.clients.append(None)
        await self.start(number)
        return agent

    async def start(self, number, **properties):
        agent = self.agents[number - 1]
        if not agent.port:
            agent.port, agent.ha_port = free_port(), free_port()
        given = {
            "listenPort": str(agent.port),
            "haListenPort": str(agent.ha_port),
            **agent.settings,
            **properties,
        }
        await asyncio.to_thread(agent.launch, write_config(agent.root, **given))
        self.clients[number - 1] = await Client.connect(agent.port)

    async def pause(self, number):
        await processes.pause(self.agents[number - 1].process.pid)

    def resume(self, number):
        self.agents[number - 1].process.send_signal(signal.SIGCONT)

    def kill(self, number):
        self.agents[number - 1].kill()

    def client(self, number):
        return self.clients[number - 1]

    async def state(self):
        """Master id, master epoch and the members of the set, as the controller has them."""
        if self.admin is None:
            self.admin = await Client.connect(self.name_server.port)
        answer = await self.admin.call(1004, {"brokerName": self.name})
        if answer.code:
            return None
        master = answer.ext.get("masterBrokerId")
        members = json.loads(answer.body)["syncStateSet"]
        return (master and int(master), int(answer.ext["masterEpoch"]), set(members))

    async def await_state(self, *wanted, timeout_s=PATIENCE_S):
        """Wait until the controller has a state and the master in it knows."""
        begun_s = time.monotonic()
        while (state := await self.state()) != wanted or not self.serves(*state[:2]):
            if time.monotonic() - begun_s > timeout_s:
                logs = "".join("".join(agent.lines[-40:]) for agent in self.agents)
                pytest.fail(f"the group is {state}, not {wanted}\n{logs}")
            await asyncio.sleep(poll_s(begun_s))

    def serves(self, master, epoch):
        """Whether a broker has begun to serve an epoch; none is fine."""
        if master is None:
            return True
        changes = self.agents[master - 1].events("role_changed")
        return any(re.search(rf"\bepoch\W+{epoch}\b", change) for change in changes)

    def is_known_by(self, master, *, members):
        """Whether a master knows a set, given as in its log: "1, 3".

        The master knew other sets before, the same set among them.
        """
        changes = self.agents[master - 1].events("sync_state_set_changed")
        return bool(changes) and bool(re.search(rf"\bmembers\W+{members}\]", changes[-1]))

    async def await_master(self, epoch):
        """Wait until a master serves an epoch, and give the controller's state of it.

        Before it serves it answers as the replica that it was, from what it knew as that.
        """
        begun_s = time.monotonic()
        while (state := await self.state())[1] != epoch or not self.serves(*state[:2]):
            assert time.monotonic() - begun_s < PATIENCE_S, f"the group is {state}"
            await asyncio.sleep(poll_s(begun_s))
        return state

    async def send(self, number, body, *, topic="orders", queue_id=0):
        """Send until the broker takes it as master."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                answer = await self.client(number).send(topic, body, queue_id=queue_id)
                if answer.code != 14:
                    return answer
                await asyncio.sleep(0.01)

    async def await_equal_logs(self):
        """Wait until every agent holds the same; a master also records what clients made it make.

        The first pull of a consumer group makes that group, which then follows in the log (D14).
        """
        numbers = range(1, len(self.agents) + 1)
        begun_s = time.monotonic()
        while len({self.log_bytes(number) for number in numbers}) != 1:
            assert time.monotonic() - begun_s < PATIENCE_S, "the logs differ"
            await asyncio.sleep(poll_s(begun_s))

    def waited_in_vain(self):
        """Changes of masters that took longer than clients, or the masters, may wait."""
        names = ("clients_waited_in_vain", "no_other_master_named")
        told = [line for agent in self.agents for name in names for line in agent.events(name)]
        return told + self.hurried

    def log_bytes(self, number):
        folder = self.agents[number - 1].root / "store" / "commitlog"
        return b"".join(path.read_bytes() for path in sorted(folder.glob("0*")))


def group_settings(port, lease_policy):
    # A master that is killed closes its connections, so that only a strict lease is waited for.
    # After a pause of the name server a closed connection is no evidence, but a timeout is.
    patience_ms = "5000" if lease_policy is LeasePolicy.STRICT else "30000"
    return {
        "enableControllerMode": "true",
        "controllerAddr": f"127.0.0.1:{port}",
        "namesrvAddr": f"127.0.0.1:{port}",
        "syncBrokerMetadataPeriod": "500",
        "brokerHeartbeatInterval": "200",
        "haSendHeartbeatInterval": "1000",
        "brokerNotActiveTimeoutMillis": "30000",
        "controllerHeartBeatTimeoutMills": patience_ms,
        "slaveTimeout": "60000",
    }


async def read_all(client, topic="orders", queue_id=0):
    """Read a queue from its beginning to what may be seen."""
    bodies, offset = [], 0
    while True:
        answer = await client.pull(topic, queueId=queue_id, queueOffset=offset, sysFlag=4)
        if answer.code != 0:
            return bodies
        bodies += [record.body for record in messages(answer)]
        offset = int(answer.ext["nextBeginOffset"])


@pytest.fixture
def lease_policy():
    return LeasePolicy.QUORUM


@pytest.fixture
def hurried(monkeypatch):
    """Note why masters that were asked to hand over did not."""
    reasons, ask = [], Brokers.ask

    async def noted(brokers, address, inquiry):
        try:
            return await ask(brokers, address, inquiry)
        except NoAnswer as error:
            if isinstance(inquiry, HandOver):
                reasons.append(str(error))
            raise

    monkeypatch.setattr(Brokers, "ask", noted)
    return reasons


@pytest.fixture
async def group(database, redis, tmp_path, lease_policy, hurried):
    async with AsyncExitStack() as controller:
        server = await controller.enter_async_context(
            NameServer.serve(
                "127.0.0.1",
                0,
                database=database,
                redis=redis,
                clock=SystemClock(),
                lease_policy=lease_policy,
            )
        )
        with ExitStack() as stack:
            group = Group(
                server,
                tmp_path,
                stack,
                stop_controller=controller.aclose,
                lease_policy=lease_policy,
                hurried=hurried,
            )
            yield group
            for client in [*group.clients, group.admin]:
                if client is not None:
                    client.writer.close()
