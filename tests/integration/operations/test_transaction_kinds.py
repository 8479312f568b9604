"""Operators decide pending transactions once, wherever the worker that does it dies."""

import pytest

from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import NotUndoable, TransactionNotFound
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, bodies
from tests.integration.broker.test_transactions import COMMIT, end, send_half
from tests.integration.operations.crashing import POINTS, points
from tests.long_form import few

TOPIC = {"topic": "orders", "queue_id": 0}


@pytest.fixture
async def producer(agents):
    client = await Client.connect(agents.brokers["broker-a"].port)
    yield client
    await client.close()


async def seen(client):
    """Return what consumers see, in its order."""
    found, offset = [], 0
    while True:
        pulled = await client.pull("orders", queueId=0, queueOffset=offset)
        if not bodies(pulled):
            return found
        found += bodies(pulled)
        offset = int(pulled.ext["nextBeginOffset"])


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_may_die_anywhere_and_a_transaction_is_committed_once(
    agents, producer, name
):
    expected = []
    for passed in points(name):
        body = b"%d" % passed
        await send_half(producer, body, **TOPIC)
        planned = await agents.plan("commit_transaction", transaction_id=f"K{passed}")
        assert planned.plan.risk_label == "may lose data, can't be undone"
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.end(planned.id)

        assert (done.state, done.outcome) == (S.DONE, "read back as intended"), passed
        expected.append(body)
        assert await seen(producer) == expected
        if lives:
            break
    assert len(expected) > 1


async def test_a_transaction_that_is_rolled_back_is_not_pending_and_not_seen(agents, producer):
    half = await send_half(producer, b"m", **TOPIC)

    done = await agents.order("roll_back_transaction", transaction_id="Km")
    late = await end(producer, half, COMMIT)

    assert (done.state, done.steps[0].before) == (S.DONE, {"is_pending": True})
    assert done.steps[0].after == {"is_pending": False}
    assert late.code == 1
    assert await seen(producer) == []
    with pytest.raises(TransactionNotFound, match="has a pending transaction"):
        await agents.plan("roll_back_transaction", transaction_id="Km")
    with pytest.raises(NotUndoable):
        await agents.undo(done)


async def test_a_transaction_that_its_producer_decides_before_the_worker_is_left_alone(
    agents, producer
):
    half = await send_half(producer, b"m", **TOPIC)
    planned = await agents.plan("roll_back_transaction", transaction_id="Km")
    await agents.confirm(planned)
    assert (await end(producer, half, COMMIT)).code == 0

    ended = await agents.end(planned.id)

    assert ended.state is not S.DONE
    assert await seen(producer) == [b"m"]


async def test_the_plan_says_whether_a_producer_may_decide_first(agents, producer):
    await producer.heartbeat("g", "orders")
    await send_half(producer, b"m", **TOPIC)

    planned = await agents.plan("commit_transaction", transaction_id="Km")

    assert "consumers get the message" in (planned.plan.loss or "")
    (check,) = [one for one in planned.plan.checks if one.name == "producers"]
    assert (check.verdict, "the broker asks them" in check.why) == ("warn", True)
    assert planned.plan.facts["transaction"]["producer_group_name"] == "pg"


async def test_a_replica_or_a_broker_without_transactions_decides_nothing(agents):
    answer = await Client.connect(agents.brokers["broker-b"].port)
    fields = {"firstOffset": 0, "transactionId": "K", "commit": "true"}

    refused = await answer.call(RequestCode.DECIDE_TRANSACTION, fields)

    assert refused.code == 604
    await answer.close()
