"""A master that dies and returns again and again, while clients send, consume and wait."""

import asyncio
import random

import pytest

from tests.integration.acting.test_acting import await_read, commit, committed
from tests.integration.acting.test_members import figures
from tests.waiting import eventually

ROUND_COUNT = 4


async def await_acting(replica):
    async def acts():
        return (await figures(replica))["actingSince"] != "0"

    await eventually(acts)


async def send_some(client, number, chance):
    """Send messages, some of which wait; return the bodies of those that were acknowledged."""
    taken = []
    for at in range(20):
        wait = chance.choice([{}, {}, {"DELAY": "1"}, {"TIMER_DELAY_MS": "700"}])
        body = b"%d-%d" % (number, at)
        answer = await client.send("orders", body, properties=wait)
        assert answer.code == 0
        taken.append(body)
    return taken


@pytest.mark.parametrize("seed", [1, 2])
async def test_no_message_is_lost_or_doubled_and_no_offset_goes_back(fixed_group, seed):
    # S106, S109, S113, S129
    chance = random.Random(seed)
    master, replica = await fixed_group.add_pair()
    assert (await master.heartbeat("g", "orders")).code == 0
    sent, offset = [], 0
    for number in range(ROUND_COUNT):
        sent += await send_some(master, number, chance)
        offset += 3
        assert (await commit(master, offset)).code == 0
        await asyncio.sleep(chance.random() / 2)
        await fixed_group.await_copy(1)

        fixed_group.kill(0)
        await await_acting(replica)
        assert (await committed(replica)) == offset
        offset += 3
        assert (await commit(replica, offset)).code == 0
        await asyncio.sleep(chance.random() / 2)
        if chance.random() < 1 / 2:
            # The acting broker dies as well, once its file has the commit.
            await fixed_group.await_saved(1, offset)
            fixed_group.kill(1)
            replica = await fixed_group.start(1)
            await await_acting(replica)
        master = await fixed_group.start(0)
        await fixed_group.await_members({0, 1})

        assert (await committed(master)) == offset

    await await_read(master, sent)
    await fixed_group.await_copy(1)
    await await_read(replica, sent)

    async def is_equal():
        return (await committed(replica)) == offset

    await eventually(is_equal)
    await fixed_group.await_equal_logs()
