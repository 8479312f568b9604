"""Share queues while members pause, join, catch up, or lose their disk."""

import asyncio
import os
from collections import deque

from backend.remoting.request_code import RequestCode
from tests.integration.broker.popping import ack, bodies, handle_fields, pop
from tests.integration.replication.conftest import read_all
from tests.integration.replication.popping import consumer, send_many

HELD_COUNT = 20
NO_SUCH_TOPIC = 17


async def test_acknowledgements_that_wait_for_a_replica_hold_up_no_other_request(group):
    # Q31: a message is finished at once for others, and its answer comes last. Q32.
    await group.add_many(2)
    await send_many(group, 1, 40)
    client = await consumer(group, 1)
    found = [*await pop(client, "orders"), *await pop(client, "orders")]
    assert len(found) == 40
    await group.pause(2)

    waiting = [client.start(RequestCode.ACK_MESSAGE, handle_fields(one)) for one in found]

    # A POP without messages has no record to wait for.
    assert await pop(client, "orders") == []
    assert not any(one.done() for one in waiting)
    group.resume(2)
    assert {one.code for one in await asyncio.gather(*waiting)} == {0}


async def test_o35_a_member_that_joins_under_load_knows_what_was_finished(group):
    # Here the member copies the log, and no queue by itself.
    # O36, Q41, Q56: messages are finished while the member copies them, and the master goes on.
    # O37, Q54, Q55: a topic is made meanwhile, and another one is deleted.
    await group.add_many(1)
    assert (await group.send(1, b"deleted", topic="former")).code == 0
    client = await consumer(group, 1)
    held, finished, joined = deque(), set(), asyncio.Event()

    async def work():
        number = 0
        assert (await group.send(1, b"made", topic="later")).code == 0
        deleted = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "former"})
        assert deleted.code == 0
        while not (joined.is_set() and finished):
            assert (await group.send(1, b"%06d" % number)).code == 0
            (found,) = await pop(client, "orders", maxMsgNums=1, pollTime=30_000)
            held.append(found)
            number += 1
            if len(held) > HELD_COUNT:
                first = held.popleft()
                assert await ack(client, first) == 0
                finished.add(first.body)

    working = asyncio.ensure_future(work())
    await group.add()
    await group.await_state(1, 1, {1, 2})
    joined.set()
    await working
    assert finished

    group.kill(1)
    await group.await_state(2, 2, {2})

    again = await pop(await consumer(group, 2), "orders")
    assert bodies(again) == bodies(list(held))
    assert await read_all(group.client(2), "later") == [b"made"]
    assert (await group.client(2).pull("former")).code == NO_SUCH_TOPIC


async def test_o33_a_replica_whose_disk_fails_leaves_the_set_and_no_client_waits_for_it(group):
    # Q39, Q40. The disk of a master: see `test_failover`.
    await group.add_many(3, haMaxTimeSlaveNotCatchup="6000")
    await send_many(group, 1, 20)
    client = await consumer(group, 1)
    found = await pop(client, "orders")
    assert await ack(client, found[0]) == 0
    os.truncate(group.agents[2].root / "store" / "commitlog" / f"{0:020}", 0)

    assert [await ack(client, one) for one in found[1:10]] == [0] * 9

    await group.await_state(1, 1, {1, 2})
    group.kill(1)
    await group.await_state(2, 2, {2})
    assert bodies(await pop(await consumer(group, 2), "orders")) == bodies(found[10:])
