"""Members of a broker group share queues by lease, over a real control plane (ADR 23)."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.domain.share_lease import LEASE_TERMS
from backend.domain.share_mode import ShareMode
from backend.domain.share_queue import ShareQueueFilter
from backend.remoting.request_code import RequestCode
from backend.services.consumer_group.share_queues import list_share_queues
from tests.integration.broker.popping import ack, bodies, pop, pop_fields, popped
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.sharing import (
    WAIT_MS,
    await_mode,
    lease_of,
    own,
    owner_of,
    receive,
    set_terms,
    share,
    shared_pair,
)
from tests.waiting import PATIENCE_S, eventually

SLICE_COUNT = 5

POP_COUNT = 8
ONE_MESSAGE = pop_fields("orders", maxMsgNums=1, pollTime=WAIT_MS)


def tag_of(message):
    """Give the epoch of the lease by which a message was handed out."""
    return int(message.handle.split(" ")[3])


async def shared_trio(group):
    await group.add_many(3)
    assert (await share(group)).code == 0
    for number in (2, 3):
        await await_mode(group, number, "SHARED")


async def shown_queue(group):
    """Return the only share queue that users see."""
    client = RemotingClient()
    try:
        found = await list_share_queues(
            ShareQueueFilter(topic="orders"),
            size=10,
            after=None,
            database=group.name_server.controller.database,
            brokers=Brokers(client),
            clock=SystemClock(),
        )
    finally:
        await client.aclose()
    assert found.unknown == ()
    (shown,) = found.page.items
    return shown


async def test_o16_the_first_pop_at_a_replica_makes_it_the_owner(group):
    await shared_pair(group)
    await send_many(group, 1, 2)
    client = await consumer(group, 2)

    found = await receive(client, 2)

    assert bodies(found) == [b"000", b"001"]
    assert [await ack(client, one) for one in found] == [0, 0]
    lease = await lease_of(group)
    assert (lease.owner.broker_id, lease.epoch) == (2, 1)
    shown = await shown_queue(group)
    assert (shown.held.mode, shown.waiters) == (ShareMode.SHARED, ())
    assert str(shown.owner) == "broker-t-2"
    assert shown.owner_address.endswith(f":{group.agents[1].port}")


async def test_an_idle_group_sends_no_lease_heartbeats_q82(group):
    await group.add_many(2)
    await send_many(group, 1, 1)
    (found,) = await pop(await consumer(group, 1), "orders")

    assert found.body == b"000"
    assert (await lease_of(group)).epoch == 0


async def test_q90_another_member_serves_long_before_the_lease_of_a_dead_owner_ends(group):
    # Q88: the clients of another member see no error.
    await shared_trio(group)
    await own(group, 2)
    other = await consumer(group, 3)
    ends_at = (await lease_of(group)).ends_at
    await send_many(group, 1, 3)

    group.kill(2)
    found = await receive(other, 3)

    assert bodies(found) == [b"000", b"001", b"002"]
    assert [await ack(other, one) for one in found] == [0, 0, 0]
    # The clock of Postgres is that of this machine.
    assert datetime.now(UTC) < ends_at
    assert await owner_of(group) == 3


async def test_o30_an_owner_that_is_stopped_hands_over_first_and_nothing_comes_twice(group):
    # O22: what was delivered before is acknowledged at another member.
    await shared_pair(group)
    client = await own(group, 2)
    await send_many(group, 1, 4)
    found = await receive(client, 2)

    await asyncio.to_thread(group.agents[1].stop)

    assert await owner_of(group) is None
    rest = await receive(await consumer(group, 1), 2)
    assert bodies([*found, *rest]) == [b"000", b"001", b"002", b"003"]
    assert [await ack(group.client(1), one) for one in [*found, *rest]] == [0] * 4


async def test_o18_with_time_sharing_members_take_turns_and_each_message_comes_once(group):
    # Q21, Q27, Q28; O21: each hand-over is under load.
    await shared_pair(group)
    assert (await share(group, more=",+share.timeShare=true")).code == 0
    stopped, received = asyncio.Event(), {1: [], 2: []}

    async def consume(number):
        client = await consumer(group, number)
        while not stopped.is_set():
            for one in await pop(client, "orders", pollTime=500, maxMsgNums=1):
                assert await ack(client, one) == 0
                received[number].append(one.body)

    async def produce():
        number = 0
        while not stopped.is_set():
            assert (await group.send(1, b"%06d" % number)).code == 0
            number += 1
            await asyncio.sleep(0.02)
        return number

    working = asyncio.gather(produce(), consume(1), consume(2))

    async def has_moved():
        return (await lease_of(group)).epoch >= 4

    await eventually(has_moved)
    stopped.set()
    sent, *_ = await working
    client = await consumer(group, 1)
    while found := await pop(client, "orders", pollTime=2_000):
        received[1] += bodies(found)
        assert {await ack(client, one) for one in found} == {0}

    assert all(received.values())
    assert sorted([*received[1], *received[2]]) == [b"%06d" % number for number in range(sent)]


async def test_without_turns_one_member_stays_the_owner_and_others_forward_to_it_q69(group):
    await shared_pair(group)
    stopped, received = asyncio.Event(), {1: 0, 2: 0}

    async def consume(number):
        client = await consumer(group, number)
        while not stopped.is_set():
            for one in await pop(client, "orders", pollTime=200, maxMsgNums=1):
                assert await ack(client, one) == 0
                received[number] += 1

    async def produce():
        number = 0
        while not stopped.is_set():
            assert (await group.send(1, b"%06d" % number)).code == 0
            number += 1
            await asyncio.sleep(0.02)

    working = asyncio.gather(produce(), consume(1), consume(2))
    await eventually(lambda: all(received.values()))
    epoch = (await lease_of(group)).epoch
    await asyncio.sleep(SLICE_COUNT * LEASE_TERMS.slice.total_seconds())
    stopped.set()
    await working

    # By turns it would change with each slice. An owner that gives no answer in time loses it.
    assert (await lease_of(group)).epoch - epoch < SLICE_COUNT / 2
    assert all(received.values())


async def test_o25_without_a_control_plane_the_master_owns_and_goes_on(group):
    await shared_pair(group)
    await own(group, 2)
    await group.stop_controller()
    await send_many(group, 1, 3)
    client = group.client(1)

    found = await receive(client, 3)

    assert bodies(found) == [b"000", b"001", b"002"]
    assert [await ack(client, one) for one in found] == [0] * 3


async def test_o23_an_owner_that_was_paused_past_its_lease_hands_out_nothing_more(group):
    await shared_trio(group)
    paused = await own(group, 2)
    waiting = paused.start(RequestCode.POP_MESSAGE, pop_fields("orders", pollTime=WAIT_MS))
    await group.pause(2)
    other = await consumer(group, 3)
    await send_many(group, 1, 2)
    begun_s = time.monotonic()

    found = await receive(other, 2)
    assert bodies(found) == [b"000", b"001"]
    assert [await ack(other, one) for one in found] == [0, 0]
    assert await owner_of(group) == 3

    group.resume(2)
    await send_many(group, 1, 1, start=2)
    again = await pop(other, "orders", pollTime=2_000)
    late = await asyncio.wait_for(waiting, PATIENCE_S) if not again else None
    delivered = again or popped(late)
    assert bodies(delivered) == [b"002"]
    assert time.monotonic() - begun_s < PATIENCE_S


async def test_o23_a_paused_master_answers_the_pops_that_came_meanwhile_by_its_next_lease(
    group, monkeypatch
):
    # OI-11. No other member can own what this one has: the sequencer that fences it is itself.
    set_terms(monkeypatch, ttl=timedelta(seconds=3))
    await shared_pair(group)
    await send_many(group, 1, 1 + POP_COUNT)
    client = await consumer(group, 1)
    first = popped(await client.call(RequestCode.POP_MESSAGE, ONE_MESSAGE))
    assert [await ack(client, one) for one in first] == [0]
    assert (await lease_of(group)).epoch == tag_of(first[0]) == 1
    await group.pause(1)
    meanwhile = [client.start(RequestCode.POP_MESSAGE, ONE_MESSAGE) for _ in range(POP_COUNT)]

    async def has_ended():
        # The clock of Postgres is that of this machine.
        return (await lease_of(group)).ends_at < datetime.now(UTC)

    await eventually(has_ended)
    group.resume(1)
    found = [message for one in meanwhile for message in popped(await one)]

    assert bodies(found) == [b"%03d" % number for number in range(1, 1 + POP_COUNT)]
    assert min(map(tag_of, found)) > 1
