"""Random lives of a logical queue on three broker groups, compared with a list of its messages.

The list is the model: the logical offset of a message is its place in the list.
"""

import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

import pytest

from backend.brokers.requests.logical_queues import DiscardLogicalQueue, UnsealLogicalQueue
from backend.remoting.request_code import RequestCode
from tests.integration.broker.static_topics import TOPIC, BrokerGroups
from tests.integration.broker.test_static_topics import offset_of, read_all, send
from tests.long_form import few

NAMES = ("b1", "b2", "b3")
STEP_COUNT = 25


@dataclass
class Life:
    """One logical queue, its leader, and everything that was acknowledged."""

    groups: BrokerGroups
    source: random.Random
    leader: str = "b1"
    messages: list[bytes] = field(default_factory=list)

    @property
    def client(self):
        return self.groups.clients[self.leader]

    def other(self):
        return self.source.choice([name for name in NAMES if name != self.leader])

    async def do_send(self):
        count, start = self.source.randrange(1, 6), len(self.messages)
        sent = await send(self.client, count, start=start)
        assert sent == [(0, start + number) for number in range(count)]
        self.messages += [b"%d" % (start + number) for number in range(count)]

    async def do_move(self):
        destination = self.other()
        await self.groups.move(self.leader, destination)
        self.leader = destination

    async def do_give_up(self):
        """Begin a move and roll it back, with an epoch above all of its requests."""
        destination = self.other()
        await self.groups.prepare(destination)
        await self.groups.seal(self.leader)
        self.groups.topic = replace(self.groups.topic, epoch=self.groups.topic.epoch + 2_000)
        later = {"topic": TOPIC, "global_id": 0, "epoch": self.groups.topic.epoch}
        await self.groups.ask(self.leader, UnsealLogicalQueue(**later))
        await self.groups.ask(destination, DiscardLogicalQueue(**later))
        for name in NAMES:
            await self.groups.store(name, is_final=True)

    async def do_restart(self):
        name = self.source.choice(NAMES)
        held = await self.groups.held(name)
        await self.groups.stop(name)
        await self.groups.start(name)
        await self.groups.clients[name].heartbeat("g", TOPIC)
        assert await self.groups.held(name) == held

    async def do_commit(self):
        offset = self.source.randint(0, len(self.messages))
        fields = {"topic": TOPIC, "queueId": 0, "consumerGroup": "g", "commitOffset": offset}
        reply = await self.client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        assert reply.code == 0, reply.remark
        # A position in a newer segment stays.
        found = await offset_of(self.client, RequestCode.QUERY_CONSUMER_OFFSET, consumerGroup="g")
        assert offset <= found <= len(self.messages)

    async def check(self):
        count = len(self.messages)
        assert await offset_of(self.client, RequestCode.GET_MIN_OFFSET) == 0
        assert await offset_of(self.client, RequestCode.GET_MAX_OFFSET) == count
        start = self.source.randint(0, count)
        read, _, end = await read_all(self.client, start)
        assert read == list(enumerate(self.messages))[start:]
        assert end == count
        for name in NAMES:
            if name != self.leader:
                refused = await self.groups.clients[name].send(TOPIC, b"x", lqFwd=1)
                assert refused.code == 501


WEIGHTS = {
    Life.do_send: 5,
    Life.do_move: 4,
    Life.do_give_up: 1,
    Life.do_restart: 1,
    Life.do_commit: 2,
}


@pytest.mark.parametrize("seed", few(range(20), 3))
async def test_a_logical_queue_is_one_queue_through_any_life(tmp_path, seed):
    """L16, L45: offsets have no gap, and at most one broker group takes messages."""
    source = random.Random(seed)
    async with AsyncExitStack() as stack:
        groups = BrokerGroups(tmp_path, stack)
        for name in NAMES:
            client = await groups.start(name)
            await client.heartbeat("g", TOPIC)
        await groups.create("b1", "b2", "b3")
        life = Life(groups, source)

        for action in source.choices(list(WEIGHTS), list(WEIGHTS.values()), k=STEP_COUNT):
            await action(life)
            await life.check()
