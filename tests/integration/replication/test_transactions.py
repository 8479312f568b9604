"""Transactions across failovers: each is decided once, and only pending ones are asked (I12)."""

import asyncio
from collections import Counter

from backend.remoting.request_code import RequestCode
from tests.integration.broker.test_transactions import COMMIT, ROLL_BACK, answer_to, end, send_half
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually

PATIENT_CHECKS = {
    "transactionTimeOut": "10",
    "transactionCheckInterval": "100",
    "transactionCheckMax": "10000",
}
ROUND_COUNT = 60


class Producer:
    """A producer that decides by the number of a message, at once or when it is asked."""

    def __init__(self):
        self.committed, self.pending, self.wrongly_asked = [], {}, []
        self.decided = set()

    async def run(self, client, epoch):
        """Send half messages; commit the first of four, roll back the second, leave two."""
        for number in range(ROUND_COUNT):
            body = b"%d-%d" % (epoch, number)
            half = await send_half(client, body, topic="orders", queue_id=0)
            match number % 4:
                case 0:
                    self.committed.append(body)
                    self.decided.add(body)
                    assert (await end(client, half, COMMIT)).code == 0
                case 1:
                    self.decided.add(body)
                    assert (await end(client, half, ROLL_BACK)).code == 0
                case kind:
                    self.pending[body] = COMMIT if kind == 2 else ROLL_BACK

    async def answer(self, client):
        """Answer all checks, until nothing is pending."""
        await client.heartbeat("g", "orders")
        answered = 0

        async def nothing_is_pending():
            nonlocal answered
            checks = [
                one for one in client.notices if one.code == RequestCode.CHECK_TRANSACTION_STATE
            ]
            for check in checks[answered:]:
                await self.answer_one(client, check)
            answered = len(checks)
            return not self.pending

        await eventually(nothing_is_pending)

    async def answer_one(self, client, check):
        body = check.ext["msgId"].removeprefix("K").encode()
        if body in self.decided:
            self.wrongly_asked.append(body)
        decision = self.pending.get(body)
        if decision is None:
            # A check that was sent before the answer to the one before it.
            return
        # The copy that a check names may have been replaced since: then the next check decides.
        if (await end(client, answer_to(check), decision)).code == 0:
            del self.pending[body]
            if decision == COMMIT:
                self.committed.append(body)


async def test_transactions_are_decided_once_whenever_the_master_is_killed(group):  # I12
    # Q62: the log has each half message and each decision.
    await group.add_many(2, **PATIENT_CHECKS)
    assert (await group.send(1, b"first")).code == 0
    producer, master = Producer(), 1
    for epoch in range(2, 5):
        await producer.run(group.client(master), epoch)
        group.kill(master)
        former, master = master, 3 - master
        await group.await_state(master, epoch, {master})
        await group.start(former)
        await group.await_state(master, epoch, {1, 2})
        # Asked again in a moment are only those that are still pending.
        await producer.answer(group.client(master))

    await asyncio.sleep(0.5)
    held = await read_all(group.client(master))

    assert Counter(held) == Counter([b"first", *producer.committed])
    assert producer.wrongly_asked == []
