"""What POP consumers have finished stays so on every later master of their group."""

import asyncio

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.popping import (
    Popped,
    ack,
    bodies,
    change,
    handle_fields,
    pop,
    pop_fields,
    popped,
    set_mode,
)
from tests.integration.replication.popping import consumer, send_many
from tests.waiting import eventually

SOON_MS = "8000"


async def test_o4_what_was_acknowledged_is_not_delivered_by_the_next_master(group):
    await group.add_many(2)
    await send_many(group, 1, 20)
    client = await consumer(group, 1)
    # O28, Q86, Q87: here the replica passes no POP on; it refuses, and says what to do.
    told = await group.client(2).call(RequestCode.POP_MESSAGE, pop_fields("orders"))
    assert (told.code, "ask for the route again" in told.remark) == (14, True)
    assert (await set_mode(client, "POP", "orders")).code == 0
    first = await pop(client, "orders")
    finished = first[::2]
    assert [await ack(client, one) for one in finished] == [0] * 10
    assert (await pop(await consumer(group, 1), "orders")) == []

    group.kill(1)
    await group.await_state(2, 2, {2})

    # Q9: all that was acknowledged is forgotten.
    client = await consumer(group, 2)
    # O13: the consumer of before the failover finishes its message.
    assert await ack(client, first[1]) == 0
    rest = await pop(client, "orders")
    assert bodies(rest) == bodies(first[3::2])
    assert await ack(client, rest[0]) == 0
    # O15: its former handle is void, since another delivery has begun.
    assert await ack(client, first[5]) == 208
    told = await client.call(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
    assert b'"POP"' in told.body


async def test_an_acknowledgement_completes_when_a_replica_holds_it(group):
    # Q13, Q30: while the replica is paused no success is answered.
    await group.add_many(2, slaveTimeout=SOON_MS)
    await send_many(group, 1, 1)
    client = await consumer(group, 1)
    (first,) = await pop(client, "orders")
    await group.pause(2)

    late = await client.call(RequestCode.ACK_MESSAGE, handle_fields(first))
    group.resume(2)

    assert late.code not in {0, 208}

    async def is_finished():
        return await ack(client, first) == 0

    await eventually(is_finished)


async def test_a_master_that_confirms_nothing_hands_out_no_message(group):
    # Q9, Q18: it may be a former master, and the next one may have finished the message.
    await group.add_many(2, slaveTimeout=SOON_MS)
    await send_many(group, 1, 1)
    client = await consumer(group, 1)
    # The share queues have their names.
    (first,) = await pop(client, "orders")
    assert (await change(client, first, 0)).code == 0
    await group.pause(2)

    late = await client.call(RequestCode.POP_MESSAGE, pop_fields("orders"))

    assert (late.code, late.body) == (12, b"")

    # No consumer saw that delivery: it hides the message no longer, and does not count.
    group.resume(2)
    found: list[Popped] = []

    async def comes_again():
        told = await client.call(RequestCode.POP_MESSAGE, pop_fields("orders"))
        found.extend(popped(told) if told.code == 0 else [])
        return bool(found)

    await eventually(comes_again)
    assert bodies(found) == [b"000"]
    assert found[0].reconsume_times == first.reconsume_times + 1


async def test_a_client_with_many_deliveries_that_wait_for_a_replica_is_read_no_further(group):
    await group.add_many(2, slaveTimeout=SOON_MS)
    # Together more than the 4 MiB that may wait.
    for _ in range(30):
        assert (await group.send(1, b"." * 200_000)).code == 0
    client = await consumer(group, 1)
    assert len(await pop(client, "orders", maxMsgNums=1)) == 1
    await group.pause(2)

    fields = pop_fields("orders", maxMsgNums=1)
    pops = [client.start(RequestCode.POP_MESSAGE, fields) for _ in range(29)]
    await client.heartbeat("g", "orders")
    group.resume(2)

    # The heartbeat came behind them, and was not read before the first ones were answered.
    assert pops[0].done()
    await asyncio.gather(*pops)


async def test_o42_a_returned_master_has_the_state_of_the_next_one(group):
    await group.add_many(2)
    await send_many(group, 1, 4)
    client = await consumer(group, 1)
    first = await pop(client, "orders")
    assert await ack(client, first[0]) == 0
    group.kill(1)
    await group.await_state(2, 2, {2})
    client = await consumer(group, 2)
    assert await ack(client, first[1]) == 0
    await group.start(1)
    await group.await_state(2, 2, {1, 2})

    group.kill(2)
    await group.await_state(1, 3, {1})

    client = await consumer(group, 1)
    assert bodies(await pop(client, "orders")) == [b"002", b"003"]


@pytest.mark.parametrize("seed", range(2))
async def test_no_finished_message_comes_again_over_some_failovers(group, seed):
    # O1, O4: each message is finished by some consumer, and none that was is delivered again.
    await group.add_many(2)
    await send_many(group, 1, 60)
    finished: set[bytes] = set()
    master, epoch = 1, 1
    for step in range(3):
        client = await consumer(group, master)
        found = await pop(client, "orders", maxMsgNums=20 + seed)
        assert finished.isdisjoint(one.body for one in found)
        codes = await asyncio.gather(*(ack(client, one) for one in found[: 10 + seed]))
        assert set(codes) == {0}
        finished |= {one.body for one in found[: 10 + seed]}
        if step == 2:
            break
        group.kill(master)
        master, epoch = 3 - master, epoch + 1
        await group.await_state(master, epoch, {master})
        await group.start(3 - master)
        await group.await_state(master, epoch, {1, 2})

    assert len(finished) == 3 * (10 + seed)


async def test_o2_no_send_completes_without_the_copies_that_the_set_requires(group):
    # Q13, Q15.
    await group.add_many(2, slaveTimeout=SOON_MS, haMaxTimeSlaveNotCatchup="20000")
    assert (await group.send(1, b"first")).code == 0
    await group.pause(2)

    late = await group.send(1, b"late")

    assert late.code == 12

    async def is_alone():
        # The set has shrunk to the master.
        return (await group.send(1, b"later")).code == 0

    await eventually(is_alone)
    group.resume(2)
