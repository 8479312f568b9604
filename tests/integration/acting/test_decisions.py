"""Transactions that end while the master of their group is absent (D17, D18)."""

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.acting.conftest import content_of
from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_escapes import ESCAPES, add_target, await_drained, let_act
from tests.integration.acting.test_members import figures
from tests.integration.broker.client import messages
from tests.integration.broker.test_transactions import (
    COMMIT,
    IMPATIENT,
    ROLL_BACK,
    answer_to,
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


async def pending_count(client):
    answer = await client.call(RequestCode.GET_PENDING_TRANSACTIONS)
    return java_json.loads(answer.body)["totalCount"] if answer.code == 0 else None


async def await_no_pending(client):
    async def is_none():
        return await pending_count(client) == 0

    await eventually(is_none)


async def test_a_message_that_is_committed_at_an_acting_master_escapes_once(fixed_group):
    # D17, S132
    master, replica = await fixed_group.add_pair(transactionCheckInterval="600000", **ESCAPES)
    target = await add_target(fixed_group)
    halves = [
        await send_half(master, body, topic="orders", queue_id=0)
        for body in (b"committed", b"rolled back", b"open")
    ]
    await let_act(fixed_group)

    assert (await end(replica, halves[0], COMMIT)).code == 0
    assert (await end(replica, halves[1], ROLL_BACK)).code == 0
    await await_read(target, [b"there", b"committed"])
    await await_drained(replica)
    escaped = messages(await target.pull("orders"))[1].properties
    assert escaped["REGENT_ESCAPED_FROM"].startswith("TestCluster/broker-t/")
    assert (escaped["UNIQ_KEY"], "TRAN_MSG" in escaped) == ("Kcommitted", False)
    # A producer that got no answer ends its transaction again, also at the next process.
    assert (await end(replica, halves[0], COMMIT)).code == 0
    assert (await end(replica, halves[0], ROLL_BACK)).code == 1
    await eventually(lambda: is_saved(fixed_group))
    fixed_group.kill(1)
    replica = await fixed_group.start(1)
    await fixed_group.await_acting(1)
    assert (await end(replica, halves[0], COMMIT)).code == 0
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    assert (await end(master, halves[0], COMMIT)).code == 1
    assert (await end(master, halves[2], COMMIT)).code == 0
    await await_read(master, [b"open"])
    await await_no_pending(master)
    assert sorted(await read_all(target)) == [b"committed", b"there"]


def is_saved(group):
    """Return whether the file of the acting replica says that a decision has escaped."""
    path = group.agents[1].root / "store" / "config" / "regentDecisions.json"
    return b"regentEscapedAs" in content_of(path)


async def test_a_half_message_without_its_producer_escapes_and_is_decided_there(fixed_group):
    # S131, D17, D18
    master, replica = await fixed_group.add_pair(
        transactionTimeOut="10", transactionCheckInterval="60000", **ESCAPES
    )
    target = await add_target(fixed_group)
    target = await restarted(fixed_group, "broker-u", transactionCheckMax="10000", **IMPATIENT)
    half = await send_half(master, b"undecided", topic="orders", queue_id=0)
    await let_act(fixed_group)
    fixed_group.kill(1)
    replica = await fixed_group.start(1, **IMPATIENT)
    await fixed_group.await_acting(1)

    async def has_escaped():
        return await pending_count(target) == 1

    await eventually(has_escaped)
    await await_drained(replica)
    assert (await end(replica, half, COMMIT)).code == 1
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    await await_no_pending(master)
    assert await read_all(target) == [b"there"]
    await target.heartbeat("g", "orders")
    check, message = await asked(target)
    assert (await end(target, answer_to(check), COMMIT)).code == 0

    assert message.body == b"undecided"
    await await_read(target, [b"there", b"undecided"])
    assert await read_all(master) == []


async def restarted(group, key, **properties):
    """Restart the master of another group with other settings."""
    group.kill(key)
    client = await group.start(key, **properties)
    await group.await_members({0}, key)
    return client
