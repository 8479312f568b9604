"""When the ownership of a share queue moves between members with consumers, and when it stays."""

import asyncio
import time
from datetime import timedelta

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.broker.popping import ack, bodies, pop, pop_fields, popped
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.sharing import (
    WAIT_MS,
    await_waiting,
    lease_of,
    own,
    owner_of,
    receive,
    set_terms,
    share,
    shared_pair,
)
from tests.waiting import ATTEMPT_COUNT_MAX, PATIENCE_S, eventually

SLICE = timedelta(seconds=0.2)
QUIET_S = 5.0
"""As many slices as two minutes of the real ones: an owner with a message would move each time."""

WAITER_COUNT = 3
"""POPs that wait at each member."""

FIRST_MESSAGE_S_MAX = 0.1


async def take_turns(group, monkeypatch, slice_):
    """Make a master and a replica whose consumers each want the share queue for their member."""
    set_terms(monkeypatch, slice=slice_)
    await shared_pair(group)
    assert (await share(group, more=",+share.timeShare=true")).code == 0


async def test_o19_an_owner_without_credit_gives_way_long_before_its_slice_ends(group, monkeypatch):
    # Q26.
    await take_turns(group, monkeypatch, timedelta(hours=1))
    first = await own(group, 1)
    await send_many(group, 1, 40)
    second = await consumer(group, 2)
    found = []

    async def has_moved():
        # The owner answers this POP. Then no consumer asks it, and the other member still waits.
        found.extend(await pop(second, "orders", maxMsgNums=1))
        return await owner_of(group) == 2

    before = (await lease_of(group)).epoch
    await eventually(has_moved, interval_s=0.3)
    assert (await lease_of(group)).epoch > before
    # Credit returns on both sides at one moment.
    rest = await asyncio.gather(*(receive(client, 8) for client in (first, second)))
    found += [message for part in rest for message in part]

    assert len(found) < 40, "the share queue moved while it had messages"
    assert len(set(bodies(found))) == len(found)
    assert {await ack(second, one) for one in found} == {0}
    found += await receive(second, 40 - len(found))
    assert bodies(found) == [b"%03d" % number for number in range(40)]


async def test_o19_an_owner_whose_consumers_ask_all_the_time_keeps_its_share_queue(
    group, monkeypatch
):
    await take_turns(group, monkeypatch, timedelta(hours=1))
    clients = [await own(group, 1), await consumer(group, 2)]
    clients.append(await Client.connect(group.agents[0].port))
    await clients[-1].heartbeat("g", "orders", client_id="c2")
    received = []

    async def consume(client):
        while True:
            for one in await pop(client, "orders", maxMsgNums=1, pollTime=WAIT_MS):
                assert await ack(client, one) == 0
                received.append(one.body)

    consuming = [asyncio.create_task(consume(client)) for client in clients]
    await await_waiting(group, 1, count=len(clients))
    before = await lease_of(group)
    # One consumer at a time is busy, so that another one of the owner can take more.
    for number in range(20):
        await send_many(group, 1, 1, start=number)
        await eventually(lambda number=number: len(received) > number)
    after = await lease_of(group)

    assert received == [b"%03d" % number for number in range(20)]
    assert (after.owner, after.epoch) == (before.owner, before.epoch)
    assert [one.broker_id for one in after.waiters] == [2]
    for task in consuming:
        task.cancel()
    clients[-1].writer.close()


async def test_o20_an_empty_share_queue_stays_and_its_first_message_reaches_a_waiter(
    group, monkeypatch
):
    await take_turns(group, monkeypatch, SLICE)
    await own(group, 1)
    clients = []
    for number in (1, 2):
        for name in range(WAITER_COUNT):
            client = await Client.connect(group.agents[number - 1].port)
            await client.heartbeat("g", "orders", client_id=f"c{number}-{name}")
            clients.append(client)
    fields = pop_fields("orders", maxMsgNums=1, pollTime=WAIT_MS)
    waiting = {client.start(RequestCode.POP_MESSAGE, fields): client for client in clients}

    async def other_member_waits():
        return [one.broker_id for one in (await lease_of(group)).waiters] == [2]

    await eventually(other_member_waits)
    before, begun_s = await lease_of(group), time.monotonic()
    while time.monotonic() - begun_s < QUIET_S:
        lease = await lease_of(group)
        assert (lease.owner, lease.epoch) == (before.owner, before.epoch)
        assert not any(one.done() for one in waiting)
        await asyncio.sleep(0.05)
    assert [one.broker_id for one in lease.waiters] == [2]
    assert lease.slice_ends_at == before.slice_ends_at, "the slice is over since long"

    delays_s = []
    for number in range(ATTEMPT_COUNT_MAX):
        await send_many(group, 1, 1, start=number)
        sent_s = time.monotonic()
        (answered, *_), _ = await asyncio.wait(
            waiting, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED
        )
        delays_s.append(time.monotonic() - sent_s)
        client = waiting.pop(answered)
        assert bodies(popped(answered.result())) == [b"%03d" % number]
        assert await ack(client, popped(answered.result())[0]) == 0
        if delays_s[-1] <= FIRST_MESSAGE_S_MAX:
            break
        waiting[client.start(RequestCode.POP_MESSAGE, fields)] = client
    assert min(delays_s) <= FIRST_MESSAGE_S_MAX, delays_s
    for client in clients:
        client.writer.close()
    await asyncio.gather(*waiting, return_exceptions=True)
