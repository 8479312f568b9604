"""A group is upgraded broker by broker while clients send and receive (queue-ownership.md 4.15).

A broker of an older release is one that speaks its protocol version only (`protocolVersionMax`).
"""

import asyncio
import struct
from contextlib import asynccontextmanager

import pytest
from regent_engine import decode_records

from backend.domain.operation import OperationState, StepState
from backend.domain.plan import CheckVerdict
from backend.operations.actions.protocol_versions import CompactShares
from backend.operations.engine import following, orders
from backend.operations.engine.kind import Waiting
from backend.remoting.errors import RemotingError
from backend.remoting.names import share_state_topic
from backend.remoting.request_code import RequestCode
from backend.services.controller.group_changes import BrokerGroupName, find_group
from tests.integration.broker.client import Client
from tests.integration.broker.popping import ack, pop
from tests.integration.operations.agents import ANNA, Operator
from tests.integration.replication.conftest import GROUP, read_all
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.test_planned_switches import elect, master_of
from tests.waiting import PATIENCE_S, eventually

CLUSTER = "TestCluster"
OLDER = {"protocolVersionMax": "1"}
WIRE, SNAP, VERSION, DROP = 1, 13, 20, 21
REMOVED = 8


class Upgrader(Operator):
    """Order an upgrade, and see what the operation says."""

    async def view(self):
        return await find_group(BrokerGroupName(GROUP, CLUSTER), self.context.controller)

    async def versions(self):
        """Give the version of the group, and those of its brokers."""
        group = (await self.view()).group
        return group.protocol_version, {
            one.broker_id: one.protocol_version for one in group.replicas.values()
        }

    async def begin(self, kind, **parameters):
        planned = await self.plan(kind, broker_group_name=GROUP, **parameters)
        assert planned.plan.block is None, planned.plan.checks
        await self.confirm(planned)
        return planned

    async def next_restart(self, operation_id, besides=()):
        """Carry the operation on until it names a broker to restart; None when it has ended.

        A broker that was restarted is named until it has registered.
        """
        async with asyncio.timeout(PATIENCE_S):
            while True:
                await self.run(operation_id)
                operation = await self.look(operation_id)
                if operation.ended_at is not None:
                    return None
                step = operation.next_step
                if step is not None and "stop it, and start it" in (step.error or ""):
                    number = int(step.name.removeprefix("upgrade broker "))
                    if number not in besides:
                        return number
                await asyncio.sleep(0.05)


@pytest.fixture
async def upgrader(database, group):
    source = group.name_server.controller.heartbeat_source
    upgrader = Upgrader(database, source, cluster_name=CLUSTER)
    yield upgrader
    await upgrader.client.aclose()


async def restart(group, number, **properties):
    """Stop a broker in order, and start it with another release."""
    agent = group.agents[number - 1]
    await asyncio.to_thread(agent.stop)
    agent.settings = {
        name: value for name, value in agent.settings.items() if name not in OLDER
    } | properties
    await group.start(number)


def lane_records(group, number):
    """Give version, type and flags of each record in the lane of a broker, in order."""
    log, at, found = group.log_bytes(number), 0, []
    while at + 4 <= len(log):
        (size,) = struct.unpack_from(">I", log, at)
        if size == 0:
            break
        [message] = decode_records(log[at : at + size])
        at += size
        if message.topic == share_state_topic(CLUSTER):
            found += records_of(message.body)
    return found


def records_of(body):
    at, found = 0, []
    while at < len(body):
        version, size, kind, flags = struct.unpack_from(">HIHH", body, at)
        level = struct.unpack_from(">H", body, at + 34)[0] if kind == VERSION else None
        found.append((version, kind, flags, level))
        at += 6 + size
    return found


def check_versions(records):
    """OI-10: no record is above the version of the group at its position."""
    version = 1
    for since, kind, _flags, level in records:
        assert since <= version, (since, kind, version)
        version = version if kind != VERSION else level
    return version


def kinds(records):
    return [kind for _version, kind, _flags, _level in records]


async def end_group(client, name):
    """Give a consumer group share queues, and delete it."""
    await client.heartbeat(name, "orders")
    await pop(client, "orders", name)
    told = await client.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": name})
    assert told.code == 0, told.remark


class Traffic:
    """A producer and a consumer that follow the master of a group, until it is over."""

    def __init__(self, group):
        self._group = group
        self.sent, self.received = set(), set()
        self._is_over = False

    @asynccontextmanager
    async def flowing(self):
        await self._group.send(1, b"first")
        tasks = [asyncio.create_task(self._follow(one)) for one in (self._send, self._receive)]
        await eventually(self._flows())
        try:
            yield
            # The group serves at its end as at its beginning.
            await eventually(self._flows())
        finally:
            self._is_over = True
            await asyncio.gather(*tasks)

    def _flows(self):
        sent, received = len(self.sent), len(self.received)
        return lambda: len(self.sent) > sent + 20 and len(self.received) > received + 20

    async def _follow(self, act):
        names = await Client.connect(self._group.name_server.port)
        while not self._is_over:
            try:
                client = await Client.connect(int((await master_of(names)).rpartition(":")[2]))
                try:
                    await act(client)
                finally:
                    client.writer.close()
            except (OSError, EOFError, RemotingError, AssertionError):
                # The master is another one: a request, or its connection, was refused.
                await asyncio.sleep(0.05)
        names.writer.close()

    async def _send(self, client):
        while not self._is_over:
            body = b"%d" % len(self.sent)
            assert (await client.send("orders", body)).code == 0
            self.sent.add(body)
            await asyncio.sleep(0.005)

    async def _receive(self, client):
        await client.heartbeat("g", "orders")
        while not self._is_over:
            for one in await pop(client, "orders"):
                # An acknowledgement without an answer may have finished the message.
                self.received.add(one.body)
                await ack(client, one)


async def test_o43_three_brokers_are_upgraded_under_load_and_no_message_is_lost(group, upgrader):
    # Q72, Q75, Q78, Q80
    await group.add_many(3, **OLDER)
    traffic, order = Traffic(group), []
    assert await upgrader.versions() == (1, {1: 1, 2: 1, 3: 1})

    async with traffic.flowing():
        planned = await upgrader.begin("upgrade_broker_group")
        while (number := await upgrader.next_restart(planned.id, order)) is not None:
            order.append(number)
            assert (await group.state())[0] != number, "a master hands over before"
            await restart(group, number)

    ended = await upgrader.look(planned.id)
    assert ended.state is OperationState.DONE, (ended.outcome, ended.read_back)
    assert order == [2, 3, 1]
    assert await upgrader.versions() == (2, {1: 2, 2: 2, 3: 2})
    master, epoch, members = await group.state()
    assert (master in {2, 3}, epoch, members) == (True, 2, {1, 2, 3})
    assert set(await read_all(group.client(master))) >= traffic.sent
    client = await consumer(group, master)

    async def are_received():
        for one in await pop(client, "orders"):
            assert await ack(client, one) == 0
            traffic.received.add(one.body)
        return traffic.received >= traffic.sent

    await eventually(are_received)
    await end_group(client, "late")
    await group.await_equal_logs()
    records = lane_records(group, master)
    assert check_versions(records) == 2
    assert kinds(records)[-1] == DROP


async def test_o44_a_newer_master_in_an_older_group_writes_the_older_records(group, upgrader):
    # Q79, Q80, OI-10
    await group.add(**OLDER)
    await group.await_state(1, 1, {1})
    await group.add()
    await group.await_state(1, 1, {1, 2})
    await send_many(group, 1, 3)
    assert await upgrader.versions() == (1, {1: 1, 2: 2})
    assert (await elect(group, 2)).code == 0
    await group.await_state(2, 2, {1, 2})
    client = await consumer(group, 2)
    await pop(client, "orders")

    await end_group(client, "older")

    before = lane_records(group, 2)
    assert {version for version, *_ in before} == {1}
    assert (1, WIRE, REMOVED, None) in before
    await restart(group, 1)

    async def is_raised():
        return VERSION in kinds(lane_records(group, 2))

    await eventually(is_raised)
    assert await upgrader.versions() == (2, {1: 2, 2: 2})
    await end_group(await consumer(group, 2), "newer")
    await group.await_equal_logs()
    records = lane_records(group, 2)
    assert kinds(records).count(VERSION) == 1
    assert (check_versions(records), kinds(records)[-1]) == (2, DROP)


async def test_o45_an_older_broker_is_refused_until_the_version_is_lowered(group, upgrader):
    await group.add_many(2)
    await send_many(group, 1, 3)
    client = await consumer(group, 1)
    first = await pop(client, "orders")
    assert [await ack(client, one) for one in first[:1]] == [0]
    await end_group(client, "gone")
    assert check_versions(lane_records(group, 1)) == 2

    await restart(group, 2, **OLDER)

    def is_refused():
        return any(
            "release of version 2" in line for line in group.agents[1].events("master_awaited")
        )

    await eventually(is_refused)
    assert await upgrader.versions() == (2, {1: 2, 2: 2})
    planned = await upgrader.begin("lower_protocol_version", version=1)
    ended = await upgrader.end(planned.id)
    assert ended.state is OperationState.DONE, (ended.outcome, ended.read_back)
    await group.await_state(1, 1, {1, 2})
    assert await upgrader.versions() == (1, {1: 2, 2: 1})
    # It reads the lane from the snapshot on, and knows what is finished.
    assert (await elect(group, 2)).code == 0
    await group.await_state(2, 2, {1, 2})
    client = await consumer(group, 2)
    rest = await pop(client, "orders")
    assert {one.body for one in rest} == {b"001", b"002"}
    await end_group(client, "late")
    assert check_versions(lane_records(group, 2)) == 1


async def test_an_upgrade_stops_between_two_brokers_and_ends_a_limit(group, upgrader):
    await group.add_many(2)
    lowered = await upgrader.begin("lower_protocol_version", version=1)
    assert (await upgrader.end(lowered.id)).state is OperationState.DONE
    await restart(group, 2, **OLDER)
    await group.await_state(1, 1, {1, 2})
    first = await upgrader.begin("upgrade_broker_group")
    assert await upgrader.next_restart(first.id) == 2

    await orders.cancel_operation(first.id, ANNA, upgrader.context)

    await upgrader.run(first.id)
    stopped = await upgrader.look(first.id)
    assert stopped.outcome == "cancelled after 0 of 2 steps"
    assert StepState.DONE not in {step.state for step in stopped.steps}
    assert await upgrader.versions() == (1, {1: 2, 2: 1})
    second = await upgrader.begin("upgrade_broker_group")
    assert await upgrader.next_restart(second.id) == 2
    await restart(group, 2)
    assert await upgrader.next_restart(second.id, {2}) is None
    assert (await upgrader.look(second.id)).state is OperationState.DONE
    assert await upgrader.versions() == (2, {1: 2, 2: 2})
    assert (await upgrader.view()).group.version_limit is None


async def test_a_lowering_that_stops_in_the_middle_is_undone(group, upgrader, monkeypatch):
    # The limit is there, and the version of the group is the later one still.
    await group.add_many(2)
    lowered = await upgrader.begin("lower_protocol_version", version=1)

    async def wait(*_):
        raise Waiting("the master does not answer", None)

    with monkeypatch.context() as patch:
        patch.setattr(CompactShares, "do", wait)
        await upgrader.run(lowered.id)
        await orders.cancel_operation(lowered.id, ANNA, upgrader.context)
        await upgrader.run(lowered.id)
    stopped = await upgrader.look(lowered.id)
    assert stopped.outcome == "cancelled after 1 of 3 steps"
    assert (await upgrader.view()).group.version_limit == 1

    back = await following.undo_operation(lowered.id, ANNA, upgrader.context)

    assert back.plan.block is None, back.plan.checks
    (limit,) = (one for one in back.plan.changes if one.what == "limit of the version")
    assert (limit.before, limit.after) == ("1", "none")
    await upgrader.confirm(back)
    ended = await upgrader.end(back.id)
    assert ended.state is OperationState.DONE, (ended.outcome, ended.read_back)
    assert await upgrader.versions() == (2, {1: 2, 2: 2})
    assert (await upgrader.view()).group.version_limit is None


async def test_an_upgrade_to_an_unknown_version_is_blocked(group, upgrader):
    # Else it would wait for a release that does not exist.
    await group.add()
    await group.await_state(1, 1, {1})

    planned = await upgrader.plan("upgrade_broker_group", broker_group_name=GROUP, version=99)

    (check,) = (one for one in planned.plan.checks if one.verdict is CheckVerdict.BLOCK)
    assert "up to 2: upgrade it first" in check.why
