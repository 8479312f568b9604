"""A logical queue moves between two broker groups, and a process is killed at a step.

A producer and an ordered reader use the queue all the time. In the end the checker compares what
they saw with the stored messages, and the copies of all brokers with Postgres. Each step has one
kill or two here; the long form (`make soak SOAK=moves`) kills each process at each step repeatedly.
"""

import asyncio
import contextlib
import os
from contextlib import AsyncExitStack, ExitStack

import pytest

from backend.db import brokers as broker_rows
from backend.domain.operation import OperationState as S
from backend.domain.replica_group import LeasePolicy
from backend.operations.engine import orders
from backend.services.logical_queue.consistency import check_consistency
from tests.chaos.cluster import Process
from tests.forking import CONTROL_PLANE
from tests.integration.broker.client import Client, messages
from tests.integration.operations.agents import ANNA, Operator
from tests.integration.operations.crashing import Crash
from tests.integration.replication.conftest import Group
from tests.pools import opened_database
from tests.ports import free_port
from tests.waiting import eventually
from workers.runtime import NoHeartbeats

pytestmark = pytest.mark.timeout(3_600)

HOST, CLUSTER, TOPIC = "127.0.0.1", "TestCluster", "moving"
A, B = "broker-a", "broker-b"
T = {"topic_name": TOPIC}
NOT_FOUND, RETRY_IMMEDIATELY = 19, 20
GET_MAX_OFFSET = 30
FLOW_COUNT = 5
"""So many messages are acknowledged and read after each move."""

ROUNDS = int(os.environ.get("REGENT_MOVE_ROUNDS", "0"))
"""How often each process is killed at each step; 0: each at some steps."""
STEPS = {
    "M0": ("before the effect", 0),
    "M1": ("after the effect", 0),
    "M2": ("after the effect", 2),
    "M3": ("before the effect", 3),
    "M4": ("after the effect", 3),
    "M5": ("after the effect", 5),
    "M6": ("after the effect", 6),
}
"""The last point before the next step: a move has seven requests that change a broker.

They reserve twice, seal, activate, inform the source, and store the result at both groups.
"""

VICTIMS = {
    "worker": ("M0", "M4", "M6"),
    "source": ("M1", "M5"),
    "target": ("M2", "M6"),
    "control plane": ("M3", "M5"),
}
"""The processes, and the steps at which each is killed."""


class ControlPlane:
    """Controller and name server in a process that can be killed."""

    def __init__(self, directory, database_url, redis_url):
        self.port = free_port()
        environment = {
            "REGENT_DATABASE_URL": database_url,
            "REGENT_REDIS_URL": redis_url,
            "REGENT_LEASE_POLICY": LeasePolicy.QUORUM,
        }
        log_path = directory / "control-plane.log"
        self._process = Process(CONTROL_PLANE, [HOST, str(self.port)], log_path, environment)

    async def start(self):
        self._process.start()
        await eventually(self._listens)

    def kill(self):
        self._process.kill()

    async def _listens(self):
        with contextlib.suppress(OSError):
            await (await Client.connect(self.port)).close()
            return True
        return False


class Member:
    """A producer or a reader that finds the leader by asking one broker after the other."""

    def __init__(self, groups):
        self._ports = [agent.port for group in groups for agent in group.agents]
        self._clients, self._at = {}, 0
        self.is_over = asyncio.Event()

    async def ask(self, call):
        """Call the broker that answered last; None if the connection breaks."""
        port = self._ports[self._at]
        client = self._clients.get(port)
        try:
            if client is None or client.closed.is_set():
                client = self._clients[port] = await Client.connect(port)
            return await call(client)
        except OSError:
            return None

    async def turn(self):
        """Go to the next broker."""
        self._at = (self._at + 1) % len(self._ports)
        await asyncio.sleep(0.01)


class Producer(Member):
    """Send to the queue, each message again until it is acknowledged."""

    def __init__(self, groups):
        super().__init__(groups)
        self.acknowledged = {}

    async def run(self):
        number = 0
        while not self.is_over.is_set():
            body = b"%d" % number
            answer = await self.ask(lambda client, body=body: client.send(TOPIC, body))
            if answer is None or answer.code != 0:
                await self.turn()
                continue
            offset = int(answer.ext["queueOffset"])
            assert not self.acknowledged or offset > max(self.acknowledged)
            self.acknowledged[offset] = body
            number += 1


class Reader(Member):
    """Read the queue from its beginning on, in order."""

    def __init__(self, groups):
        super().__init__(groups)
        self.read, self._next = [], 0

    async def run(self):
        while not self.is_over.is_set():
            answer = await self.ask(
                lambda client: client.pull(
                    TOPIC, queueOffset=self._next, suspendTimeoutMillis=100, sysFlag=6
                )
            )
            if answer is None or answer.code not in (0, NOT_FOUND, RETRY_IMMEDIATELY):
                await self.turn()
                continue
            if answer.code == 0:
                delta = int(answer.ext["offsetDelta"])
                self.read += [(one.queue_offset + delta, one.body) for one in messages(answer)]
            following = int(answer.ext["nextBeginOffset"])
            assert following >= self._next
            self._next = following


class Scene:
    """Two broker groups of two, their control plane, a worker, and clients of the queue."""

    def __init__(self, plane, groups, operator):
        self.plane, self.operator = plane, operator
        self.groups = {group.name: group for group in groups}
        self.producer, self.reader = Producer(groups), Reader(groups)
        self.tasks, self.found = [], None

    async def begin(self):
        await eventually(self._masters_are_known)
        made = await self.operator.order(
            "create_static_topic", **T, queue_count=2, broker_groups=[A]
        )
        assert made.state is S.DONE, made.outcome
        self.tasks = [asyncio.create_task(one.run()) for one in (self.producer, self.reader)]
        await self.flow()

    async def _masters_are_known(self):
        async with self.operator.database.connect() as connection:
            masters = await broker_rows.list_masters(connection, CLUSTER)
        return len([one for one in masters if one.is_online]) == len(self.groups)

    async def flow(self):
        """Wait until more messages are acknowledged and read."""
        sent, read = len(self.producer.acknowledged), len(self.reader.read)
        await eventually(
            lambda: (
                any(task.done() for task in self.tasks)
                or (
                    len(self.producer.acknowledged) >= sent + FLOW_COUNT
                    and len(self.reader.read) >= read + FLOW_COUNT
                )
            )
        )
        for task in self.tasks:
            if task.done():
                await task

    async def move(self, source, target, *, victim, step):
        """Move the queue, and kill a process at a step; the move goes on until it is done."""
        killed = {"source": source, "target": target}.get(victim)
        before = {name: await group.state() for name, group in self.groups.items()}
        planned = await self.operator.plan("move_queues", **T, destination=target, queues=[0])
        await self.operator.confirm(planned)
        done = []

        def kill():
            done.append(step)
            if victim == "worker":
                raise Crash
            if killed is None:
                self.plane.kill()
            else:
                self.groups[killed].kill(before[killed][0])

        await self.operator.run(planned.id, STEPS[step], kill)
        assert done == [step]
        if victim == "control plane":
            await self.restart_plane(before)
        ended = asyncio.create_task(self.settle(planned.id))
        if killed is not None:
            await self.replace(self.groups[killed], before[killed])
        await ended

    async def restart_plane(self, before):
        await self.plane.start()
        for name, group in self.groups.items():
            group.admin = None
            await group.await_state(*before[name])

    async def replace(self, group, before):
        """Wait for the next master, and have the killed one return as its replica."""
        killed, epoch, members = before
        master, *_ = await group.await_master(epoch + 1)
        assert master != killed
        await group.start(killed)
        await group.await_state(master, epoch + 1, members)

    async def settle(self, operation_id):
        """Continue the operation until it is done, as an operator who repeats it."""

        async def is_done():
            await self.operator.run(operation_id)
            state = (await self.operator.look(operation_id)).state
            if state not in {S.QUEUED, S.RUNNING, S.DONE}:
                await orders.retry_operation(operation_id, ANNA, self.operator.context)
            return state is S.DONE

        await eventually(is_done)

    async def end(self):
        """Stop the clients, once everything is read."""
        self.producer.is_over.set()
        await self.tasks[0]
        last = max(self.producer.acknowledged)
        await eventually(lambda: self.reader.read and self.reader.read[-1][0] >= last)
        self.reader.is_over.set()
        await self.tasks[1]

    async def check(self, leader):
        """Compare what the clients saw with the stored messages, and all copies with Postgres."""
        master, *_ = await self.groups[leader].state()
        # A broker closes the connection of a client that was silent for two minutes.
        client = await Client.connect(self.groups[leader].agents[master - 1].port)
        stored = await read_queue(client)
        await client.close()
        assert [offset for offset, _ in stored] == list(range(len(stored)))
        assert self.producer.acknowledged.items() <= dict(stored).items()
        assert self.reader.read == stored[: len(self.reader.read)]
        await eventually(self._is_consistent, seen=lambda: self.found)
        for group in self.groups.values():
            await group.await_equal_logs()

    async def _is_consistent(self):
        """Compare all copies; brokers register at a restarted name server within a second."""
        found = await check_consistency(
            CLUSTER,
            TOPIC,
            database=self.operator.database,
            brokers=self.operator.context.brokers,
        )
        self.found = found
        faults = (found.findings, found.leftovers, found.unfinished, found.silent)
        return found.is_sound and not any(faults)


async def read_queue(client):
    """Read a logical queue to its end, as clients do: pairs of offset and body.

    The leader of an older segment may be unknown for a moment; a client pulls again.
    """
    end = await client.call(GET_MAX_OFFSET, {"topic": TOPIC, "queueId": 0})
    read, offset, refusals = [], 0, set()

    async def pulled():
        answer = await client.pull(TOPIC, queueOffset=offset, suspendTimeoutMillis=0)
        if answer.code in (0, NOT_FOUND, RETRY_IMMEDIATELY):
            return answer
        refusals.add(f"at {offset}: {answer.code} {answer.remark}")
        return None

    while offset < int(end.ext["offset"]):
        answer = await eventually(pulled, seen=lambda: refusals)
        if answer.code == 0:
            delta = int(answer.ext["offsetDelta"])
            read += [(one.queue_offset + delta, one.body) for one in messages(answer)]
        offset = int(answer.ext["nextBeginOffset"])
    return read


@pytest.fixture
async def scene(database_url, redis_url, tmp_path):
    plane = ControlPlane(tmp_path, database_url, redis_url)
    async with (
        opened_database(database_url, application_name="workers") as database,
        AsyncExitStack() as clients,
    ):
        with ExitStack() as stack:
            stack.callback(plane.kill)
            await plane.start()
            groups = []
            for name in (A, B):
                (tmp_path / name).mkdir()
                group = Group(plane, tmp_path / name, stack, None, LeasePolicy.QUORUM, name)
                await group.add_many(2)
                groups.append(group)
            operator = Operator(database, NoHeartbeats(), cluster_name=CLUSTER)
            clients.push_async_callback(operator.client.aclose)
            scene = Scene(plane, groups, operator)
            await scene.begin()
            yield scene
            for task in scene.tasks:
                task.cancel()


@pytest.mark.parametrize("victim", VICTIMS)
async def test_a_kill_at_any_step_of_a_move_loses_and_reorders_nothing(scene, victim):
    """L20, L42, L43, L44, L48: replicas replace masters during moves and after them."""
    homes = (A, B)
    steps = [*STEPS] * ROUNDS or VICTIMS[victim]
    for number, step in enumerate(steps):
        source, target = homes[number % 2], homes[1 - number % 2]
        await scene.move(source, target, victim=victim, step=step)
        await scene.flow()

    await scene.end()
    await scene.check(homes[len(steps) % 2])
