"""A pause of the control plane is no failure of brokers, however brokers noticed it (D28)."""

import asyncio
import contextlib
import os
import signal
import sys
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import func, select, text

from backend.clients.clock import SystemClock
from backend.db.tables import brokers, replica_group_changes
from backend.nameserver import failover
from backend.nameserver.server import NameServer
from tests.chaos.cluster import ROOT
from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3, state
from tests.integration.nameserver.conftest import Client, register_body, register_ext
from tests.long_form import few
from tests.ports import free_port
from tests.waiting import PATIENCE_S, eventually
from workers.broker.replication.controller_client import (
    ControllerClient,
    ControllerRefused,
    HeartbeatFacts,
    RegistrationFacts,
)
from workers.broker.replication.identity import Identity

GROUP_COUNT = int(os.environ.get("REGENT_PAUSED_GROUPS", "20"))
ROUTED_COUNT = 20
LEASE_MS = 8_000
BEAT_S = 2.0
PAUSE_S = 10.0
FIRST, SECOND = 1, 2
STEP_COUNT_MAX = 20
OFFLINE = select(func.count()).where(brokers.c.state == "offline")
LOST_EVENTS = text(
    "SELECT count(*) FROM (SELECT kind FROM staged_events UNION ALL SELECT kind FROM events) AS e"
    " WHERE kind = 'broker.lost'"
)


class Agent:
    """Does what a broker agent does about its controller, by the agent's own client of it."""

    def __init__(self, port, group, broker_id, *others):
        self.id = broker_id
        code = f"10.0.0.{broker_id}:10911;{group}"
        self.identity = Identity("c", group, broker_id, code)
        self.notices = []
        self.lease_count = 0
        self.client = ControllerClient(
            tuple(("127.0.0.1", one) for one in (port, *others)),
            own_address=f"10.0.0.{broker_id}:10911",
            timeout_ms=LEASE_MS,
            priority=1,
            on_notice=self.notices.append,
        )
        self.epoch = 1
        self._task = None

    async def join(self):
        """Register, with another attempt when an answer does not come, as an agent makes it."""
        facts = RegistrationFacts(0, 10, 0, is_verified=True)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    await self.client.apply_broker_id(self.identity, self.identity.register_code)
                    await self.client.register(self.identity, facts)
                    await self.client.heartbeat(self.identity, self._sign())
                except OSError:
                    await asyncio.sleep(0.2)
                else:
                    return

    def start(self):
        self._task = asyncio.create_task(self._beat())

    def die(self):
        """End as `kill -9` does: nothing is sent any more, and the socket closes."""
        if self._task is not None:
            self._task.cancel()
        self.client.close()

    async def _beat(self):
        while True:
            try:
                lease_ms = await self.client.heartbeat(self.identity, self._sign())
            except (OSError, ControllerRefused):
                await asyncio.sleep(0.2)
                continue
            self.lease_count += lease_ms > 0
            await asyncio.sleep(BEAT_S)

    def _sign(self):
        return HeartbeatFacts(
            self.epoch,
            10,
            10,
            is_verified=True,
            is_cordoned=False,
            is_learner=False,
            life=1,
            confirmed_epoch=self.epoch,
        )


async def make_group(port, name, *others):
    first, second = Agent(port, name, FIRST, *others), Agent(port, name, SECOND)
    for agent in (first, second):
        await agent.join()
    await first.client.elect(first.identity)
    await first.client.alter(
        first.identity, epoch=1, members={FIRST, SECOND}, set_epoch=1, is_fence=False
    )
    return first, second


async def begin_group(port, name):
    """Make a group that shows life from then on: many groups take longer than one lease."""
    group = await make_group(port, name)
    for agent in group:
        agent.start()
    return group


@asynccontextmanager
async def controlling_process(database_url, redis_url, policy="quorum"):
    """Run a control plane in a separate process, which can be stopped as a whole."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.chaos.control_plane", "127.0.0.1", str(port)),
        cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL,
        env=os.environ
        | {
            "REGENT_DATABASE_URL": database_url,
            "REGENT_REDIS_URL": redis_url,
            "REGENT_LEASE_POLICY": policy,
        },
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.05)
        yield process, port
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        await process.wait()


async def pause(process, seconds=PAUSE_S):
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(seconds)
    process.send_signal(signal.SIGCONT)


async def count_changes(database, *kinds):
    statement = select(func.count()).where(replica_group_changes.c.kind.in_(kinds))
    async with database.connect() as connection:
        return await connection.scalar(statement)


async def masters(database, group):
    statement = text(
        "SELECT g.master_id, g.master_epoch FROM replica_groups g"
        " JOIN broker_groups b ON b.id = g.broker_group_id WHERE b.name = :name"
    )
    async with database.connect() as connection:
        return tuple((await connection.execute(statement, {"name": group})).one())


async def await_master(database, group, *standing):
    async def is_so():
        return await masters(database, group) == standing

    await eventually(is_so)


async def end_all(agents, routed):
    for agent in agents:
        agent.die()
    for broker in routed:
        await broker.hang_up()


async def in_steps(work):
    """Do some work, a few at a time, as a cluster grows."""
    slots = asyncio.Semaphore(STEP_COUNT_MAX)

    async def slotted(one):
        async with slots:
            return await one

    return await asyncio.gather(*map(slotted, work))


class RoutedBroker:
    """Registers routes and shows life, as a broker agent does to a name server."""

    def __init__(self, port, number):
        self.port, self.number = port, number
        self.client = self._task = None

    async def register(self):
        self.client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        ext = register_ext(
            brokerName=f"routed-{self.number}",
            brokerAddr=f"10.1.0.{self.number}:10911",
            heartbeatTimeoutMillis=str(LEASE_MS),
        )
        topics = {f"topic-{self.number}": (1, 1, 6), "TBW102": (1, 1, 7)}
        await self.client.ask(103, ext, register_body(topics))
        self._task = asyncio.create_task(self._show_life(ext))

    async def _show_life(self, ext):
        while True:
            await asyncio.sleep(BEAT_S)
            await self.client.send(904, ext, oneway=True)

    async def hang_up(self):
        self._task.cancel()
        await self.client.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("policy", few(["quorum", "strict"], 1))
async def test_a_paused_control_plane_replaces_no_master_and_empties_no_route(
    database, database_url, redis_url, policy
):
    # Case A15.
    group_count = GROUP_COUNT if policy == "quorum" else STEP_COUNT_MAX
    async with controlling_process(database_url, redis_url, policy) as (process, port):
        groups = await in_steps(begin_group(port, f"g{n}") for n in range(group_count))
        agents = [agent for group in groups for agent in group]
        routed = [RoutedBroker(port, n) for n in range(ROUTED_COUNT)]
        for broker in routed:
            await broker.register()
        before = await count_changes(database, "master_elected", "master_lost")

        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(PAUSE_S)
        # Half of them hang up, as a broker does that waits for an answer in vain.
        for broker in routed[::2]:
            await broker.hang_up()
        # The last master dies while no process looks.
        mortal, heir = groups[-1]
        mortal.die()
        process.send_signal(signal.SIGCONT)
        for agent in agents:
            agent.lease_count = 0
        await asyncio.sleep(BEAT_S)
        for broker in routed[::2]:
            await broker.register()

        # It is replaced, once the process has listened for a lease.
        await await_master(database, f"g{group_count - 1}", SECOND, 2)
        await eventually(lambda: heir.notices[-1].epoch == 2)
        # All others go on in the epoch of before, with a lease again.
        await eventually(lambda: all(first.lease_count for first, _ in groups[:-1]))
        await asyncio.sleep(LEASE_MS / 1000 * 1.2)
        assert await count_changes(database, "master_elected", "master_lost") == before + 1
        async with database.connect() as connection:
            assert await connection.scalar(OFFLINE) == 0
            assert await connection.scalar(LOST_EVENTS) == 0

        if policy == "quorum":
            # Without a pause, the end of a master is noticed at once.
            died_at_s = asyncio.get_running_loop().time()
            groups[0][0].die()
            await await_master(database, "g0", SECOND, 2)
            assert asyncio.get_running_loop().time() - died_at_s < LEASE_MS / 1000 / 2
        await end_all(agents, routed)


@pytest.mark.timeout(120)
async def test_one_of_two_processes_is_paused_and_the_other_goes_on_electing(
    database, database_url, redis_url, start_server
):
    # Case A15.
    running = await start_server()
    async with controlling_process(database_url, redis_url) as (process, port):
        first, second = await make_group(port, "split", running.port)
        # The running process hears the replica, the stopped process the master.
        elsewhere = Agent(running.port, "split", SECOND)
        mortal, heir = await make_group(running.port, "mortal")
        for agent in (first, elsewhere, mortal, heir):
            agent.start()
        await eventually(lambda: elsewhere.lease_count == 0 and first.lease_count > 0)
        before = await count_changes(database, "master_elected", "master_lost")

        process.send_signal(signal.SIGSTOP)
        # Its master comes to the process that runs before its lease is over.
        first.lease_count = 0
        await asyncio.sleep(LEASE_MS / 1000)
        assert first.lease_count > 0
        mortal.die()
        await eventually(lambda: heir.notices and heir.notices[-1].epoch == 2)
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(LEASE_MS / 1000 * 1.2)

        assert await masters(database, "split") == (FIRST, 1)
        assert await count_changes(database, "master_elected", "master_lost") == before + 1
        for agent in (first, second, elsewhere, heir):
            agent.die()


async def test_a_master_that_waited_for_a_slow_database_is_not_given_up(
    database, redis, connect, monkeypatch
):
    # Case A15, a similar input: the process runs, but its answers do not come.
    monkeypatch.setattr(failover, "OWED_S_MAX", 0.2)
    async with NameServer.serve(
        "127.0.0.1", 0, database=database, redis=redis, clock=SystemClock()
    ) as server:
        peers = [BrokerPeer(await connect(server), number) for number in (1, 2, 3)]
        await make_f3(peers)
        async with database.begin() as blocker:
            await blocker.execute(text("LOCK TABLE replica_reports IN ACCESS EXCLUSIVE MODE"))
            await peers[0].client.send(904, peers[0]._heartbeat({}))
            await asyncio.sleep(0.5)
            await peers[0].close()
            await eventually(lambda: server.describe().connection_count == 2)
        again = BrokerPeer(await connect(server), 1)
        await again.beat()
        await asyncio.sleep(0.5)

        assert (await state(peers[1]))[:2] == (1, 1)

        # In time again, a closed connection counts at once.
        await again.lease()
        await again.close()

        async def is_replaced():
            return (await state(peers[1]))[:2] == (2, 2)

        await eventually(is_replaced)


async def test_a_process_that_has_just_begun_elects_for_no_master_it_has_not_heard(
    start_server, connect
):
    # Case A15, a similar input: a start is like the end of a pause.
    former = await start_server()
    await make_f3([BrokerPeer(await connect(former), number) for number in (1, 2, 3)])
    server = await start_server()
    second, third = [BrokerPeer(await connect(server), number) for number in (2, 3)]
    for key in (("c", "g", 1), ("c", "g", 2), ("c", "g", 3)):
        former._presence.remove_replica(key)
    async with former.controller.database.begin() as connection:
        await connection.execute(text("DELETE FROM replica_reports"))
    for peer in (second, third):
        await peer.lease()

    await third.close()
    await asyncio.sleep(0.7)

    assert (await state(second))[:2] == (1, 1)
