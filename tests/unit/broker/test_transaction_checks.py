"""Questions about pending transactions at a replica that acts for its master."""

import asyncio
from types import SimpleNamespace

from workers.broker.transactions.leading import TURN_COUNT, Transactions


class Pending:
    """Transactions that are all due."""

    def __iter__(self):
        return ((number, self.find(number)) for number in range(10 * TURN_COUNT))

    def find(self, number):
        return SimpleNamespace(offset=number, log_position=number, due_ms=0)


async def test_other_work_goes_on_while_many_producers_are_asked():
    asked, turns = [], []
    table = Pending()
    transactions = SimpleNamespace(
        pending=lambda: asyncio.sleep(0, table),
        _clock=lambda: 1,
        _end_of_last_pass=0,
        _end_of=lambda _topic: 0,
        _host=SimpleNamespace(asks_for_master=lambda _: True, is_writable=False),
        _decide_escaped=lambda _: None,
        _ask_for_master=lambda pending: asked.append(pending.log_position),
        _record=lambda *_: None,
    )

    async def work():
        while len(asked) < 10 * TURN_COUNT:
            turns.append(len(asked))
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    await Transactions.check(transactions)
    await working

    assert asked == list(range(10 * TURN_COUNT))
    assert len(turns) > 8
