"""Subscriptions that other broker groups lend until members send a heartbeat."""

import asyncio
import random

import pytest
from structlog.testing import capture_logs

from backend.remoting import java_json
from backend.remoting.bodies import ConsumerConnection, SubscriptionData
from backend.remoting.request_code import RequestCode
from tests.unit.broker.neighbours import Answer, Others
from tests.waiting import PATIENCE_S
from workers.broker.errors import Refusal
from workers.broker.routing import lent_subscriptions
from workers.broker.routing.lent_subscriptions import LENT_MS, REPEAT_MS, LentSubscriptions
from workers.broker.routing.neighbours import Neighbours


class Clock:
    now_ms = 1_000_000

    def __call__(self):
        return self.now_ms


def knows(*, version=1, **expressions):
    subscriptions = {
        topic: SubscriptionData(topic=topic, expression=expression, version=version)
        for topic, expression in expressions.items()
    }
    group = ConsumerConnection(
        connections=[],
        consume_from_where="CONSUME_FROM_LAST_OFFSET",
        consume_type="CONSUME_PASSIVELY",
        message_model="CLUSTERING",
        subscriptions=subscriptions,
    )
    return Answer(java_json.encode(group))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lent_by(clock):
    def build(others):
        return LentSubscriptions(Neighbours(others, others.in_route, random.Random(1)), clock)

    return build


def expressions(lent):
    return {topic: one.expression for topic, one in lent.find("g").subscriptions.items()}


async def test_the_subscriptions_of_a_group_are_lent(lent_by):
    others = Others(a=knows(T="x", U="*"))
    lent = lent_by(others)
    assert lent.find("g") is None

    assert await lent.ask_for("g", "T")

    assert expressions(lent) == {"T": "x", "U": "*"}
    assert others.codes == {RequestCode.GET_CONSUMER_CONNECTION_LIST}
    assert not lent.find("g").members


async def test_of_two_broker_groups_the_newer_subscription_is_lent(lent_by):
    lent = lent_by(Others(a=knows(T="new", version=2), b=knows(T="old", U="*")))

    assert await lent.ask_for("g", "T")

    assert expressions(lent) == {"T": "new", "U": "*"}


async def test_a_lent_group_is_returned_after_a_while(lent_by, clock):
    lent = lent_by(Others(a=knows(T="*")))
    await lent.ask_for("g", "T")

    clock.now_ms += LENT_MS - 1
    assert lent.find("g") is not None
    clock.now_ms += 1

    assert lent.find("g") is None


@pytest.mark.parametrize(
    "answer", [Answer(b"", code=206), Answer(b"no JSON"), Refusal(2, "no answer")]
)
async def test_a_group_that_no_broker_group_knows_is_not_lent(lent_by, answer):
    lent = lent_by(Others(a=answer))

    assert not await lent.ask_for("g", "T")


async def test_pulls_at_the_same_time_cause_one_question(lent_by, clock):
    others = Others(a=Refusal(2, "no answer"))
    lent = lent_by(others)

    together = await asyncio.gather(*(lent.ask_for("g", "T") for _ in range(5)))
    assert not await lent.ask_for("g", "T")
    assert (together, others.asked) == ([False] * 5, ["a"])
    clock.now_ms += REPEAT_MS
    others.answers["a"] = knows(T="*")

    assert await lent.ask_for("g", "T")
    assert others.asked == ["a", "a"]


async def test_a_pull_waits_for_a_broker_group_for_a_short_time_only(lent_by, monkeypatch):
    """The answer comes later, and the consumer asks again."""
    others = Others(a=knows(T="*"))
    others.gates["a"] = asyncio.Event()
    lent = lent_by(others)

    with monkeypatch.context() as short:
        short.setattr(lent_subscriptions, "WAIT_S", 0.05)
        async with asyncio.timeout(PATIENCE_S):
            assert not await lent.ask_for("g", "T")
    others.gates["a"].set()

    assert await lent.ask_for("g", "T")
    assert others.asked == ["a"]


async def test_a_question_that_fails_lends_nothing_and_is_logged(lent_by):
    with capture_logs() as logs:
        assert not await lent_by(Others(a=RuntimeError("a fault"))).ask_for("g", "T")

    assert [one["event"] for one in logs] == ["subscriptions_not_lent"]
