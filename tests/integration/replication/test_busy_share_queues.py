"""A busy share queue keeps no other one waiting, though all have one lane (O32)."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from backend.rules.attributes import PRIMARY_MODE
from tests.bench.clients.load import run_load
from tests.integration.broker.popping import ack, pop
from tests.integration.replication.share_members import CONSUMERS, QUEUE_COUNT, TOPIC, Members

MASTER, REPLICA = 1, 2
MESSAGE_COUNT = 60_000
BUSY_S = 2.0
ROUND_COUNT = 50


@pytest.fixture
async def members(group):
    """A master, and a replica that confirms what the master appends."""
    async with AsyncExitStack() as stack:
        members = Members(group, stack)
        for broker_id in (MASTER, REPLICA):
            await members.start(broker_id)
        await members.begin(master=MASTER, mode=PRIMARY_MODE)
        yield members


async def test_o32_a_busy_share_queue_does_not_delay_another_one(members):
    # ADR 22: all share queues have one lane. Another group gets single messages all the while.
    address = f"127.0.0.1:{members[MASTER].server.port}"
    await run_load(
        *("send", address, TOPIC),
        queues=QUEUE_COUNT,
        in_flight=256,
        count=MESSAGE_COUNT,
        body_size=8,
    )
    client = await members[MASTER].consume()
    busy = asyncio.create_task(
        run_load(
            *("pop", address, TOPIC),
            group="busy",
            broker=members.group.name,
            seconds=BUSY_S,
            in_flight=64,
            batch=1,
        )
    )

    for _ in range(ROUND_COUNT):
        (found,) = await pop(client, TOPIC, CONSUMERS, maxMsgNums=1, pollTime=30_000)
        assert await ack(client, found) == 0

    assert not busy.done()
    done = await busy
    assert done["messages"] > ROUND_COUNT
