"""Operators recall waiting messages, wherever the worker that does it dies."""

import time

import pytest

from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import (
    InvalidParameters,
    NotUndoable,
    WaitingMessageNotFound,
)
from backend.domain.plan import CheckVerdict
from backend.remoting.request_code import RequestCode
from backend.rules.recall_handle import RecallHandle
from tests.integration.broker.client import Client, messages
from tests.integration.operations.crashing import POINTS, points
from tests.long_form import few

KIND = "recall_message"
HOUR_MS = 3_600_000


@pytest.fixture
async def producer(agents):
    client = await Client.connect(agents.brokers["broker-a"].port)
    yield client
    await client.close()


@pytest.fixture
async def recalls(agents):
    await agents.call(RequestCode.UPDATE_BROKER_CONFIG, body=b"recallMessageEnable=true")


async def send(client, key, *, due_ms):
    at = {"TIMER_DELIVER_MS": str(due_ms), "UNIQ_KEY": key}
    sent = await client.send("orders", b"m", properties=at)
    assert sent.code == 0, sent.remark
    return sent.ext["recallHandle"]


def later(agents):
    """A time to which neither the clock of the workers nor that of the broker comes."""
    present_ms = max(time.time_ns() // 1_000_000, agents.world.clock.now().timestamp() * 1000)
    return int(present_ms) + 24 * HOUR_MS


async def recalled(client):
    """Return which messages are recalled, each as often as it is."""
    named, offset = [], 0
    while found := messages(await client.pull("rmq_sys_wheel_timer", queueOffset=offset)):
        named += [one.properties.get("TIMER_DEL_UNIQKEY") for one in found]
        offset += len(found)
    return [one for one in named if one is not None]


@pytest.mark.usefixtures("recalls")
@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_may_die_anywhere_and_a_message_is_recalled(agents, producer, name):
    for passed in points(name):
        handle = await send(producer, f"K{passed}", due_ms=later(agents))
        planned = await agents.plan(KIND, recall_handle=handle)
        assert planned.plan.risk_label == "may lose data, can't be undone"
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.end(planned.id)

        assert (done.state, done.outcome) == (S.DONE, "read back as intended"), passed
        assert (await recalled(producer)).count(f"orders+K{passed}") == 1
        if lives:
            break


@pytest.mark.usefixtures("recalls")
async def test_a_recalled_message_is_neither_recalled_again_nor_undone(agents, producer):
    handle = await send(producer, "K", due_ms=later(agents))

    done = await agents.order(KIND, recall_handle=handle)

    assert (done.steps[0].before, done.steps[0].after) == (
        {"is_recalled": False},
        {"is_recalled": True},
    )
    assert done.target == "K"
    with pytest.raises(WaitingMessageNotFound, match="is recalled already"):
        await agents.plan(KIND, recall_handle=handle)
    with pytest.raises(NotUndoable):
        await agents.undo(done)


async def test_a_plan_is_blocked_where_the_broker_takes_no_recalls(agents, producer):
    handle = await send(producer, "K", due_ms=later(agents))

    planned = await agents.plan(KIND, recall_handle=handle)

    (check,) = planned.plan.checks
    assert check.verdict is CheckVerdict.BLOCK
    assert "recallMessageEnable is false" in check.why


@pytest.mark.usefixtures("recalls")
async def test_only_a_message_that_waits_is_recalled(agents, producer):
    due_ms = later(agents)
    await send(producer, "K", due_ms=due_ms)
    unknown = RecallHandle("orders", "broker-a", due_ms, "none").encode()
    passed = RecallHandle("orders", "broker-a", 1000, "K").encode()

    with pytest.raises(WaitingMessageNotFound, match="does not wait on broker group broker-a"):
        await agents.plan(KIND, recall_handle=unknown)
    with pytest.raises(WaitingMessageNotFound, match="was due at"):
        await agents.plan(KIND, recall_handle=passed)
    with pytest.raises(InvalidParameters, match="malformed"):
        await agents.plan(KIND, recall_handle="no handle")
