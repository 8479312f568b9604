"""A group is switched to a controller and back while clients send, commit and read (D16)."""

import asyncio
import contextlib
from datetime import UTC, datetime

import pytest

from backend.db import broker_groups
from backend.db import brokers as broker_rows
from backend.domain.operation import OperationState
from backend.operations.engine import following
from backend.remoting.response_code import ResponseCode
from backend.rules.group_mode import GroupMode
from backend.services.controller.group_changes import BrokerGroupName, find_group
from tests.integration.acting.conftest import GROUP
from tests.integration.acting.test_acting import commit, committed
from tests.integration.broker.client import Client
from tests.integration.operations.agents import ANNA, Operator
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually

KIND = "switch_group_mode"
CLUSTER = "TestCluster"
ENDED = frozenset(
    {
        OperationState.DONE,
        OperationState.PARTLY,
        OperationState.FAILED,
        OperationState.UNKNOWN,
        OperationState.CANCELLED,
    }
)
STORED_PERHAPS = frozenset(
    {
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
    }
)
UNREAD_S_MAX = 30
"""The time after which a name server forgets a silent broker (`brokerNotActiveTimeoutMillis`).

A switch waits for no broker that is lost, so a reader has an answer before, on a slow machine too.
"""


def is_stored_perhaps(answer):
    return answer.code in STORED_PERHAPS or "unknown whether" in (answer.remark or "")


class Switcher(Operator):
    """Order a switch, and have workers carry it out while brokers start again."""

    async def drive(self, operation_id, state=ENDED):
        async def is_there():
            await self.run(operation_id)
            return (await self.look(operation_id)).state in state

        await eventually(is_there)
        return await self.look(operation_id)

    async def switch(self, mode):
        planned = await self.plan(KIND, broker_group_name=GROUP, mode=mode)
        assert planned.plan.block is None, planned.plan.checks
        await self.confirm(planned)
        return await self.drive(planned.id)

    async def switch_back(self, operation):
        planned = await following.undo_operation(operation.id, ANNA, self.context)
        await self.confirm(planned)
        return await self.drive(planned.id)

    async def mode(self):
        async with self.database.connect() as connection:
            return (await broker_groups.get(connection, CLUSTER, GROUP)).mode

    async def view(self):
        return await find_group(BrokerGroupName(GROUP, CLUSTER), self.context.controller)

    async def await_online(self, addresses):
        """Wait until the database has members online, as plans see them."""

        async def are_online():
            async with self.database.connect() as connection:
                found = await broker_rows.list_of_name(connection, CLUSTER)
            return {one.address for one in found if one.is_online} == set(addresses)

        await eventually(are_online)


@pytest.fixture
async def switcher(database, fixed_group):
    source = fixed_group.name_server.controller.heartbeat_source
    switcher = Switcher(database, source, cluster_name=CLUSTER)
    yield switcher
    await switcher.client.aclose()


class Traffic:
    """A producer and a consumer that follow the route, with the answers that they got."""

    def __init__(self, group):
        self._group = group
        self.sent, self.refusals = [], 0
        self.doubtful = set()
        """What may be stored, although no answer says so."""

        self.committed, self.steps_back = 0, []
        self.longest_unread_s = 0.0
        self._is_over = False

    @contextlib.asynccontextmanager
    async def flowing(self):
        tasks = [
            asyncio.create_task(one()) for one in (self._send, self._read, self._read_elsewhere)
        ]
        try:
            yield
        finally:
            # Each request gets its answer: of a send that is cancelled the outcome is unknown.
            self._is_over = True
            await asyncio.gather(*tasks)

    async def _with_master(self, act):
        """Act at the broker that routes name as the master, or as the one that acts for it."""
        addresses, _ = await self._group.route("orders")
        return 0 in addresses and await self._with(addresses[0], act)

    async def _with(self, address, act):
        client = await Client.connect(int(address.rpartition(":")[2]))
        try:
            async with asyncio.timeout(3):
                return await act(client)
        finally:
            client.writer.close()

    async def _send(self):
        number = 0
        while not self._is_over:
            number += 1
            body = b"m-%d" % number

            async def act(client, body=body):
                self.doubtful.add(body)
                answer = await client.send("orders", body)
                if not is_stored_perhaps(answer):
                    self.doubtful.remove(body)
                return answer.code == 0

            try:
                is_taken = await self._with_master(act)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                is_taken = False
            if is_taken:
                self.sent.append(body)
            else:
                self.refusals += 1
            await asyncio.sleep(0.02)

    async def _read(self):
        """Read the committed offset, then commit what is acknowledged; it never goes back (I9)."""
        loop = asyncio.get_running_loop()
        read_at = loop.time()
        while not self._is_over:

            async def act(client):
                await self._check(client)
                wanted = len(self.sent)
                if (await commit(client, wanted)).code == 0:
                    self.committed = wanted
                    return True
                return False

            try:
                is_read = await self._with_master(act)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                is_read = False
            now = loop.time()
            if is_read:
                self.longest_unread_s = max(self.longest_unread_s, now - read_at)
                read_at = now
            await asyncio.sleep(0.02)

    async def _read_elsewhere(self):
        """Read the committed offset at the other brokers of the route."""
        while not self._is_over:
            addresses, _ = await self._group.route("orders")
            for broker_id in addresses.keys() - {0}:
                with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                    await self._with(addresses[broker_id], self._check)
            await asyncio.sleep(0.02)

    async def _check(self, client):
        former = self.committed
        found = await committed(client)
        if found is not None and found < former:
            port = client.writer.get_extra_info("peername")[1]
            self.steps_back.append((datetime.now(UTC), port, former, found))


@pytest.mark.parametrize("replica_count", [1, 2])
async def test_a_group_is_switched_to_a_controller_and_back_and_nothing_is_lost(
    fixed_group, switcher, replica_count
):
    """S106, S109, S142: replicas keep their logs, since all of them are beginnings of one log."""
    total = str(1 + replica_count)
    for broker_id in range(1 + replica_count):
        await fixed_group.add(broker_id, totalReplicas=total)
        await fixed_group.await_members(set(range(broker_id + 1)))
    master = fixed_group.clients[0]
    assert (await master.send("orders", b"before")).code == 0
    assert (await master.heartbeat("g", "orders")).code == 0
    for broker_id in range(1, 1 + replica_count):
        await fixed_group.await_copy(broker_id)
    await fixed_group.await_equal_logs()
    addresses = [fixed_group.address(one) for one in range(1 + replica_count)]
    traffic = Traffic(fixed_group)

    async with traffic.flowing():
        await eventually(lambda: len(traffic.sent) > 5)
        await switcher.await_online(addresses)
        there = await switcher.switch("controller")
        view, mode = await switcher.view(), await switcher.mode()
        count = len(traffic.sent)
        await eventually(lambda: len(traffic.sent) > count + 5)
        await switcher.await_online(addresses)
        back = await switcher.switch_back(there)
        count = len(traffic.sent)
        await eventually(lambda: len(traffic.sent) > count + 5)

    assert there.state is OperationState.DONE, there.read_back
    assert mode is GroupMode.CONTROLLER
    assert view.group.sync_state_set.members == set(range(1, 2 + replica_count))
    assert back.state is OperationState.DONE, back.read_back
    assert await switcher.mode() is GroupMode.ACTING_MASTER
    assert await switcher.view() is None
    assert set(await fixed_group.members()) == {0, *range(2, 2 + replica_count)}
    master = await Client.connect(fixed_group.agents[0].port)
    await await_all_read(master, {b"before", *traffic.sent}, traffic.doubtful)
    assert traffic.steps_back == []
    assert await committed(master) >= traffic.committed > 0
    assert traffic.longest_unread_s < UNREAD_S_MAX


async def await_all_read(client, wanted, doubtful):
    """Wait until a queue has all wanted messages: each once, and of other ones doubtful ones."""

    async def found_all():
        found = await read_all(client)
        return found if wanted <= set(found) else None

    found = await eventually(found_all)
    assert len(found) == len(set(found))
    assert set(found) <= wanted | doubtful


async def test_a_replica_gets_no_controller_while_only_it_has_some_state(fixed_group):
    # D16, I9
    master, replica = await fixed_group.add_pair()
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await master.send("orders", b"m")).code == 0
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    assert (await commit(replica, 1)).code == 0
    fields = {
        "mode": "controller",
        "brokerId": "1",
        "replicaCount": "2",
        "masterAddress": fixed_group.address(0),
        "founds": "false",
    }

    async def trial():
        told = await replica.call(7026, fields | {"isTrial": "true"})
        return told.ext.get("obstacle"), told.ext.get("obstaclePasses")

    assert await trial() == ("it acts for its absent master", "true")
    refused = await replica.call(7026, fields | {"isTrial": "false"})
    assert (refused.code, refused.remark) == (2, "it acts for its absent master")
    await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    async def is_free():
        return await trial() == (None, None)

    await eventually(is_free)
