"""Transactions that a broker of stock and one of ours leave to each other in one store.

`make test` has one direction here, and the other one in `test_timers`.
"""

import asyncio

from tests.integration.broker.agent import Agent
from tests.integration.broker.client import bodies
from tests.integration.broker.test_transactions import (
    COMMIT,
    IMPATIENT,
    ROLL_BACK,
    answer_to,
    asked,
    end,
    send_half,
)
from tests.interop.lone_stock import stock
from tests.long_form import long_form_only
from tests.waiting import eventually

__all__ = ["stock"]

OP_RECORDS_AFTER_S = 4
"""A broker of stock writes op records three seconds later."""

IMPATIENT_STOCK = {"transactionTimeOut": "1000", "transactionCheckInterval": "1000"}


async def leave_one_pending(client):
    """Commit a transaction, roll one back, and leave one."""
    committed = await send_half(client, b"committed")
    rolled_back = await send_half(client, b"rolled back")
    await send_half(client, b"pending", TAGS="A")
    assert (await end(client, committed, COMMIT)).code == 0
    assert (await end(client, rolled_back, ROLL_BACK)).code == 0


async def decide_the_pending_one(client):
    """Commit what the broker asks about, and return all that consumers see."""
    await client.heartbeat("g", "T")
    check, message = await asked(client)
    assert (message.topic, message.queue_id, message.body) == ("T", 1, b"pending")
    assert message.properties["TAGS"] == "A"
    assert (await end(client, answer_to(check), COMMIT)).code == 0

    async def seen():
        pulled = await client.pull("T", queueId=1)
        return bodies(pulled) if len(bodies(pulled)) >= 2 else None

    return await eventually(seen, interval_s=0.2)


async def test_what_stock_left_pending_is_asked_and_committed_here(tmp_path, stock):
    client = await stock.start()
    await leave_one_pending(client)
    await asyncio.sleep(OP_RECORDS_AFTER_S)
    await client.close()
    await stock.stop()

    with Agent(tmp_path) as agent:
        ours = await agent.start(**IMPATIENT, transactionCheckMax="1000")
        found = await decide_the_pending_one(ours)
        agent.stop()

    assert found == [b"committed", b"pending"]


@long_form_only
async def test_what_we_left_pending_is_asked_and_committed_by_stock(tmp_path, stock):
    with Agent(tmp_path) as agent:
        ours = await agent.start()
        await leave_one_pending(ours)
        agent.stop()

    client = await stock.start(**IMPATIENT_STOCK)
    found = await decide_the_pending_one(client)
    await client.close()

    assert found == [b"committed", b"pending"]
