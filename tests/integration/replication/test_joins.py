"""New members that take the newest segment of their master's log first, and older ones afterwards.

The pace is the lowest, and a producer sends all the time: so a member catches up for seconds.
"""

import asyncio
import re
from contextlib import asynccontextmanager

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import messages
from tests.integration.broker.popping import ack, pop
from tests.integration.replication.conftest import read_all
from tests.integration.replication.popping import consumer

SEGMENT_BYTES = 1 << 20
SLOW = {
    "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
    "catchUpRateMax": str(4 << 20),
    "flushIntervalCommitLog": "20",
}
BODY = b"x" * (250 << 10)
MESSAGE_COUNT = 96
"""About 24 segments, which take six seconds."""

NO_SUCH_TOPIC = 17


async def prepare(group, count):
    """Begin with members that are in sync and hold many segments."""
    await group.add_many(count, **SLOW)
    for _ in range(MESSAGE_COUNT):
        assert (await group.send(1, BODY)).code == 0
    await group.await_equal_logs()


@asynccontextmanager
async def live_traffic(group, number):
    """Send to a broker and pull from it all the time; the bodies that it acknowledged are given.

    A pull is answered at once even where an acknowledgement has to wait for a busy replica.
    """
    sent, is_over = [], asyncio.Event()

    async def pull():
        while not is_over.is_set():
            await group.client(number).pull("orders", queueId=0, queueOffset=10**6, sysFlag=4)
            await asyncio.sleep(0.02)

    async def send():
        while not is_over.is_set():
            body = b"live %06d" % len(sent)
            if (await group.send(number, body, queue_id=1)).code == 0:
                sent.append(body)
            await asyncio.sleep(0.02)

    working = asyncio.gather(send(), pull())
    try:
        yield sent
    finally:
        is_over.set()
        await working


def number_after(name, events):
    """Give the integer of that name in each event."""
    return [int(re.search(rf"\b{name}\W+(\d+)", event)[1]) for event in events]


def held_by(group, number):
    """Give the older segments that a member says it has put in front, in this order."""
    events = group.agents[number - 1].events("older_segment_held")
    return number_after("position", events)


async def join_half(group, eventually):
    """Start another member, and wait until it holds some older segments."""
    await group.add(**SLOW)
    number = len(group.agents)
    await eventually(lambda: len(held_by(group, number)) >= 5)
    assert not group.agents[number - 1].events("backfill_done")
    return number


async def test_o35_a_member_takes_the_newest_messages_first_and_serves_none_before_it_has_all(
    group, eventually
):  # Q41-Q50, Q52, Q56, Q58, OI-9
    await prepare(group, 2)
    async with live_traffic(group, 1) as sent:
        number = await join_half(group, eventually)
        client = group.client(number)

        # It is no member of the set, and refuses clients; the end of its log is the master's.
        assert (await group.state())[2] == {1, 2}
        refused = await client.pull("orders", queueId=0, queueOffset=0, sysFlag=4)
        assert (refused.code, "brought up to date" in refused.remark) == (14, True)
        status = await client.call(RequestCode.GET_BROKER_HA_STATUS)
        assert status.code == 0

        await group.await_state(1, 1, {1, 2, 3})
    assert (await group.send(1, b"last")).code == 0
    await group.await_equal_logs()
    (begun,) = group.agents[number - 1].events("backfill_begun")
    (sync_point,) = number_after("sync_point", [begun])
    places = held_by(group, number)
    assert places == list(range(sync_point - SEGMENT_BYTES, -1, -SEGMENT_BYTES))
    assert len(places) > 20
    for queue_id, expected in [(0, [BODY] * MESSAGE_COUNT + [b"last"]), (1, sent)]:

        async def holds_all(queue_id=queue_id, expected=expected):
            return await read_all(client, queue_id=queue_id) == expected

        await eventually(holds_all)
    assert not (group.agents[number - 1].root / "store" / ".backfill").exists()


async def test_o39_a_member_that_is_killed_goes_on_where_it_was(group, eventually):
    # Q44: what it has is not fetched again. Q51, Q53, O36: messages are finished meanwhile.
    await prepare(group, 2)
    client = await consumer(group, 1)
    async with live_traffic(group, 1):
        number = await join_half(group, eventually)
        found = await pop(client, "orders", maxMsgNums=1)
        finished = [one.body for one in found if await ack(client, one) == 0]
        assert finished
        group.kill(number)
        held = held_by(group, number)

        await group.start(number)
        await group.await_state(1, 1, {1, 2, 3})
        again = held_by(group, number)
        # One that was put in front may have been killed before it said so.
        assert set(again).isdisjoint(held)
        assert again[0] in {min(held) - SEGMENT_BYTES, min(held) - 2 * SEGMENT_BYTES}
        assert again[-1] == 0
    await group.await_equal_logs()


async def test_o38_the_next_master_goes_on_where_the_former_one_was_killed(group, eventually):
    # Q53: what was finished while the member lacked the message is finished once it leads.
    await prepare(group, 2)
    client = await consumer(group, 1)
    async with live_traffic(group, 1):
        number = await join_half(group, eventually)
        (finished,) = await pop(client, "orders", maxMsgNums=1)
        assert await ack(client, finished) == 0
    group.kill(1)
    await group.await_state(2, 2, {2})
    async with live_traffic(group, 2):
        await group.await_state(2, 2, {2, 3})

    places = held_by(group, number)
    assert places == list(range(max(places), -1, -SEGMENT_BYTES))
    # It may lead as any member, with all messages.
    group.kill(2)
    await group.await_state(3, 3, {3})

    async def has_all():
        return (await read_all(group.client(number)))[:MESSAGE_COUNT] == [BODY] * MESSAGE_COUNT

    await eventually(has_all)
    again = await pop(await consumer(group, number), "orders", maxMsgNums=32)
    assert again
    assert (finished.queue_id, finished.offset) not in {(m.queue_id, m.offset) for m in again}


async def test_o40_a_member_that_lacks_older_messages_is_not_elected(group, eventually):
    await prepare(group, 1)
    async with live_traffic(group, 1):
        number = await join_half(group, eventually)
    group.kill(1)
    await eventually(lambda: group.agents[number - 1].events("master_lost"))
    held = held_by(group, number)
    assert 0 not in held

    # The controller elects the broker that has everything, as soon as it is back.
    await group.start(1)
    master, epoch, _ = await group.await_master(2)
    assert master == 1
    await group.await_state(1, epoch, {1, 2})
    assert held == held_by(group, number)[: len(held)]
    assert held_by(group, number)[-1] == 0
    await group.await_equal_logs()


async def test_o37_a_topic_that_is_deleted_meanwhile_does_not_come_back(group, eventually):
    await group.add_many(2, **SLOW)
    assert (await group.send(1, b"deleted", topic="former")).code == 0
    for _ in range(MESSAGE_COUNT):
        assert (await group.send(1, BODY)).code == 0
    async with live_traffic(group, 1):
        number = await join_half(group, eventually)
        deleted = await group.client(1).call(
            RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "former"}
        )
        assert deleted.code == 0
        assert (await group.send(1, b"made", topic="later")).code == 0
        await group.await_state(1, 1, {1, 2, 3})
    client = group.client(number)

    async def is_as_at_the_master():
        pulled = await client.pull("later", queueId=0, queueOffset=0, sysFlag=4)
        gone = await client.pull("former", queueId=0, queueOffset=0, sysFlag=4)
        is_there = pulled.code == 0 and [one.body for one in messages(pulled)] == [b"made"]
        return is_there and gone.code == NO_SUCH_TOPIC

    await eventually(is_as_at_the_master)
    folder = group.agents[number - 1].root / "store" / "consumequeue"
    await eventually(lambda: not (folder / "former").exists())
