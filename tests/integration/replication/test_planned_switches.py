"""Planned changes of a group's master: what clients that wait for answers see of them (R10c)."""

import asyncio
import itertools
import json
from collections import Counter
from contextlib import asynccontextmanager

import pytest

from backend.domain.replica_group import LeasePolicy
from backend.nameserver.failover import Failover
from backend.nameserver.replica_report_writer import ReplicaReportWriter
from backend.nameserver.session import NameServerSession
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.replication.conftest import GROUP, read_all
from tests.waiting import PATIENCE_S

TOPIC = "orders"
SENDER_COUNT = 16


class Sender:
    """Sends one message after the other, each until it is acknowledged.

    It asks for the route when it is refused, and only then.
    """

    def __init__(self, name, name_server_port):
        self.name, self.name_server_port = name, name_server_port
        self.acknowledged, self.refusals, self.attempts_max = [], [], 0
        self.clients = {}

    async def run(self, is_over):
        names = await Client.connect(self.name_server_port)
        client = await self.client_of(await master_of(names))
        for number in itertools.count():
            if is_over.is_set():
                break
            body = b"%s-%d" % (self.name, number)
            attempts = 1
            while (answer := await client.send(TOPIC, body)).code:
                self.refusals.append(answer)
                client = await self.client_of(await master_of(names))
                attempts += 1
            self.attempts_max = max(self.attempts_max, attempts)
            self.acknowledged.append(body)

    async def client_of(self, address):
        if address not in self.clients:
            self.clients[address] = await Client.connect(int(address.rpartition(":")[2]))
        return self.clients[address]


async def master_of(names):
    """Ask for the route, on a machine that is too busy for clients to wait until there is one."""
    while True:
        answer = await names.call(105, {"topic": TOPIC, "acceptStandardJsonOnly": True})
        for data in json.loads(answer.body)["brokerDatas"] if answer.code == 0 else ():
            if "0" in data["brokerAddrs"]:
                return data["brokerAddrs"]["0"]
        await asyncio.sleep(0.01)


@asynccontextmanager
async def sending(group, eventually):
    """Have several clients send, before and after what happens in between."""
    await group.send(1, b"first", topic=TOPIC)
    for number in range(1, len(group.agents) + 1):
        await await_topic(group.client(number))
    senders = [Sender(b"s%d" % i, group.name_server.port) for i in range(SENDER_COUNT)]
    is_over = asyncio.Event()

    async def flow():
        counts = [len(sender.acknowledged) for sender in senders]
        await eventually(
            lambda: all(len(s.acknowledged) > c + 20 for s, c in zip(senders, counts, strict=True))
        )

    async with asyncio.TaskGroup() as tasks:
        for sender in senders:
            tasks.create_task(sender.run(is_over))
        await flow()
        yield senders
        await flow()
        is_over.set()


async def await_topic(client):
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if not (await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": TOPIC})).code:
                return
            await asyncio.sleep(0.01)


async def elect(group, broker_id):
    fields = {
        "clusterName": "TestCluster",
        "brokerName": GROUP,
        "brokerId": broker_id,
        "designateElect": True,
    }
    return await group.admin.call(RequestCode.CONTROLLER_ELECT_MASTER, fields)


async def check_each_is_there_once(group, master, senders):
    held = Counter(await read_all(group.client(master)))
    sent = Counter([b"first", *(body for sender in senders for body in sender.acknowledged)])
    # On a busy machine a master may be replaced in a hurry: who was left in doubt sends again.
    assert held == sent or (group.hurried and held >= sent)


def check_one_question_was_enough(group, senders):
    """Who is refused is sent to the new master, which has it wait rather than refuse it again."""
    # Where the machine is too busy for a change within the bound, clients are refused again.
    assert group.waited_in_vain() or max(sender.attempts_max for sender in senders) <= 2
    told = {answer.remark for sender in senders for answer in sender.refusals}
    assert not [remark for remark in told if "it is unknown whether" in remark]
    assert {answer.code for sender in senders for answer in sender.refusals} <= {14}


async def test_an_operators_election_leaves_no_send_in_doubt(group, eventually):
    await group.add_many(3)
    async with sending(group, eventually) as senders:
        answer = await elect(group, 2)
        assert answer.code == 0, answer.remark

    await group.await_state(2, 2, {1, 2, 3})
    await check_each_is_there_once(group, 2, senders)
    refused = [answer.remark for sender in senders for answer in sender.refusals]
    assert refused == [] or group.waited_in_vain()


async def test_a_master_that_is_stopped_leaves_no_send_in_doubt(group, eventually):
    await group.add_many(3)
    async with sending(group, eventually) as senders:
        await asyncio.to_thread(group.agents[0].stop)

    master = (await group.await_master(2))[0]
    await check_each_is_there_once(group, master, senders)
    check_one_question_was_enough(group, senders)


async def test_a_master_that_hands_over_to_no_replica_goes_on_after_a_moment(group):
    await group.add_many(2)
    assert (await group.send(1, b"before")).code == 0

    answer = await group.client(1).call(RequestCode.HAND_OVER, {"masterEpoch": 1})
    sent = await group.client(1).send(TOPIC, b"meanwhile")

    assert (answer.code, sent.code) == (0, 0)
    assert await group.state() == (1, 1, {1, 2})
    assert await read_all(group.client(1)) == [b"before", b"meanwhile"]


async def test_only_the_master_of_an_epoch_hands_it_over(group):
    await group.add_many(2)

    answers = [
        await group.client(number).call(RequestCode.HAND_OVER, {"masterEpoch": epoch})
        for number, epoch in ((1, 2), (2, 1))
    ]

    assert [answer.code for answer in answers] == [2002, 2002]
    assert (await group.client(1).send(TOPIC, b"m")).code == 0


async def test_a_master_that_cannot_have_all_confirmed_is_replaced_all_the_same(group):
    await group.add_many(3, haHousekeepingInterval="60000")
    assert (await group.send(1, b"before")).code == 0
    await group.pause(3)
    in_doubt = asyncio.ensure_future(group.client(1).send(TOPIC, b"in doubt"))
    await asyncio.sleep(0)

    answer = await elect(group, 2)

    assert answer.code == 0, answer.remark
    assert (await in_doubt).code == 14
    assert (await group.send(2, b"after")).code == 0
    group.resume(3)
    await group.await_state(2, 2, {1, 2, 3})


@pytest.mark.parametrize("lease_policy", LeasePolicy)
async def test_a_master_acknowledges_nothing_once_it_has_given_its_lease_back(
    group, monkeypatch
):  # D9
    await group.add_many(3, haHousekeepingInterval="60000")
    assert (await group.send(1, b"before")).code == 0
    take_leave, is_reported, may_be_answered = Failover.take_leave, asyncio.Event(), asyncio.Event()

    async def take_leave_late(*arguments):
        is_reported.set()
        await may_be_answered.wait()
        await take_leave(*arguments)

    monkeypatch.setattr(Failover, "take_leave", take_leave_late)
    await group.pause(3)
    in_doubt = asyncio.ensure_future(group.client(1).send(TOPIC, b"in doubt"))
    await asyncio.sleep(0)
    stopping = asyncio.create_task(asyncio.to_thread(group.agents[0].stop))
    async with asyncio.timeout(PATIENCE_S):
        await is_reported.wait()

    # Now every member of the set could hold it, but another may be master already.
    group.resume(3)
    answer = await in_doubt
    may_be_answered.set()

    assert answer.code == 14
    await stopping


@pytest.mark.parametrize("is_polled_first", [False, True])
async def test_a_new_master_serves_under_the_lease_of_its_election(
    group, monkeypatch, is_polled_first
):  # D9
    await group.add_many(2, controllerHeartBeatTimeoutMills="20000")
    assert (await group.send(1, b"before")).code == 0
    # From now on no broker gets the lease that it requests.
    for name in ("ask_lease", "ask_lease_at_once"):
        monkeypatch.setattr(ReplicaReportWriter, name, never)
    if is_polled_first:
        delay_notices(monkeypatch, delay_s=1.0)

    group.kill(1)

    await group.await_state(2, 2, {2})
    assert (await group.send(2, b"after")).code == 0


def delay_notices(monkeypatch, *, delay_s):
    """Send notices of elections late: brokers learn of an election by their next poll."""
    notify = NameServerSession.notify

    def notify_late(connection, frame):
        asyncio.get_running_loop().call_later(delay_s, notify, connection, frame)

    monkeypatch.setattr(NameServerSession, "notify", notify_late)


async def never(*_arguments):
    await asyncio.Event().wait()
