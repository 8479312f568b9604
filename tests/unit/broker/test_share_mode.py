"""Which topics members may share, and what to do about the others (queue-ownership.md 4.2)."""

from types import SimpleNamespace

import pytest

from backend.remoting.bodies import TopicConfig
from workers.broker.errors import Refusal
from workers.broker.shares.share_mode import check_share_mode, mode_of

SHARED = {"share.mode": "SHARED"}


def broker(*, is_controlled=True, stock=None):
    return SimpleNamespace(
        settings=SimpleNamespace(controller_mode=is_controlled),
        shares=SimpleNamespace(stock_members=SimpleNamespace(found=stock or {})),
    )


def topic(attributes):
    return TopicConfig(
        name="orders", read_queue_count=1, write_queue_count=1, attributes=attributes
    )


@pytest.mark.parametrize(
    ("made", "is_static", "next_step"),
    [
        (broker(is_controlled=False), False, "set enableControllerMode and controllerAddr"),
        (broker(stock={2: "10.0.0.2:10911"}), False, "replace that broker by one of Regent"),
        (broker(), True, "use an ordinary topic"),
    ],
)
def test_the_refusal_of_a_shared_topic_says_why_and_what_to_do(made, is_static, next_step):
    with pytest.raises(Refusal, match=next_step):
        check_share_mode(made, "orders", None, SHARED, is_static=is_static)


def test_other_modes_and_a_mode_that_stays_are_not_judged():
    alone = broker(is_controlled=False)
    check_share_mode(broker(), "orders", None, SHARED)
    check_share_mode(alone, "orders", topic(SHARED), SHARED)
    check_share_mode(alone, "orders", topic(SHARED), {"share.mode": "PRIMARY"})
    check_share_mode(alone, "orders", None, {}, is_static=True)


def test_a_topic_without_a_mode_is_a_primary_one():
    assert [mode_of(one) for one in (None, topic({}), topic(SHARED))] == [
        "PRIMARY",
        "PRIMARY",
        "SHARED",
    ]
