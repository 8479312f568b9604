"""Transactions that end while the master of their group is absent (D18)."""

from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_members import figures
from tests.integration.broker.test_transactions import (
    COMMIT,
    IMPATIENT,
    ROLL_BACK,
    asked,
    end,
    send_half,
)
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually


async def kept_count(client):
    return (await figures(client))["keptDecisionCount"]


async def test_a_transaction_that_ends_at_an_acting_master_is_decided_once(
    fixed_group,
):  # S132, D18
    master, replica = await fixed_group.add_pair()
    halves = [
        await send_half(master, body, topic="orders", queue_id=0)
        for body in (b"committed", b"rolled back", b"open")
    ]
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    assert (await end(replica, halves[0], COMMIT)).code == 0
    assert (await end(replica, halves[0], COMMIT)).code == 0
    assert (await end(replica, halves[0], ROLL_BACK)).code == 1
    assert (await end(replica, halves[1], ROLL_BACK)).code == 0
    assert await kept_count(replica) == "2"
    # What was answered outlives the acting broker.
    fixed_group.kill(1)
    replica = await fixed_group.start(1)
    await fixed_group.await_acting(1)
    assert await kept_count(replica) == "2"
    assert await read_all(replica) == []
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    await await_read(master, [b"committed"])

    async def is_passed_back():
        return await kept_count(replica) == "0"

    await eventually(is_passed_back)
    assert (await end(master, halves[1], COMMIT)).code == 1
    assert (await end(master, halves[2], COMMIT)).code == 0
    await await_read(master, [b"committed", b"open"])
    await await_read(replica, [b"committed", b"open"])


async def test_an_acting_master_asks_producers_and_keeps_what_they_say(fixed_group):  # S106, S132
    master, replica = await fixed_group.add_pair(
        transactionTimeOut="10", transactionCheckInterval="60000"
    )
    await send_half(master, b"asked about", topic="orders", queue_id=0)
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    fixed_group.kill(1)
    replica = await fixed_group.start(1, **IMPATIENT)
    await replica.heartbeat("g", "orders")

    check, half = await asked(replica)
    answer = {
        "producerGroup": "pg",
        "tranStateTableOffset": check.ext["tranStateTableOffset"],
        "commitLogOffset": check.ext["commitLogOffset"],
        "msgId": check.ext["msgId"],
    }
    assert (await end(replica, answer, COMMIT, fromTransactionCheck="true")).code == 0
    assert await kept_count(replica) == "1"
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    assert half.body == b"asked about"
    await await_read(master, [b"asked about"])
