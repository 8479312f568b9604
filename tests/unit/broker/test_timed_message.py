import base64
from contextlib import suppress

import pytest

from workers.broker.commit_log.message import Message
from workers.broker.commit_log.timed_message import (
    TimerRules,
    find_slot,
    recall_handle,
    turn_to_wheel,
)
from workers.broker.errors import Refusal

NOW_MS = 1_758_000_000_500
RULES = TimerRules(is_enabled=True, precision_ms=1000, delay_ms_max=5000, slot_count_max=4)


def slot_of(*, count=0, chance=0.5, **properties):
    return find_slot(
        properties, RULES, now_ms=NOW_MS, count_at=lambda _: count, chance=lambda: chance
    )


@pytest.mark.parametrize(
    ("properties", "slot_ms"),
    [
        # A slot is delivered when it is over: a time on a boundary belongs to the one before.
        ({"TIMER_DELIVER_MS": "1758000001000"}, 1_758_000_000_000),
        ({"TIMER_DELIVER_MS": "1758000001001"}, 1_758_000_001_000),
        ({"TIMER_DELAY_MS": "501"}, 1_758_000_001_000),
        ({"TIMER_DELAY_SEC": "5"}, 1_758_000_005_000),
        (
            {"TIMER_DELAY_SEC": "1", "TIMER_DELAY_MS": "x", "TIMER_DELIVER_MS": "y"},
            1_758_000_001_000,
        ),
        ({"TIMER_DELAY_MS": "0"}, None),
        ({"TIMER_DELIVER_MS": "-1"}, None),
        ({"TIMER_DELAY_SEC": "1", "TIMER_OUT_MS": "1"}, None),
        ({"KEYS": "k"}, None),
    ],
)
def test_a_message_waits_in_the_slot_before_its_time(properties, slot_ms):
    assert slot_of(**properties) == slot_ms


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"TIMER_DELAY_SEC": "soon"}, 13),
        ({"TIMER_DELAY_MS": "1.5"}, 13),
        ({"TIMER_DELAY_MS": "5001"}, 13),
        ({"TIMER_DELIVER_MS": "9" * 30}, 13),
        ({"TIMER_DELIVER_MS": "1", "TIMER_DEL_UNIQKEY": "T+K"}, 13),
    ],
)
def test_a_time_that_cannot_be_kept_is_refused(properties, code):
    with pytest.raises(Refusal) as refused:
        slot_of(**properties)

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("count", "chance", "is_taken"),
    [(4, 0.0, True), (5, 0.2, False), (5, 0.3, True), (7, 0.7, False), (8, 0.99, False)],
)
def test_a_full_slot_refuses_some_messages_and_at_twice_its_limit_all(count, chance, is_taken):
    is_refused = False
    with suppress(Refusal):
        is_refused = True
        slot_of(count=count, chance=chance, TIMER_DELAY_SEC="1")
        is_refused = False

    assert is_refused is not is_taken


def test_a_waiting_message_keeps_its_properties_and_names_its_queue():
    properties = {"TIMER_DELAY_SEC": "1", "UNIQ_KEY": "K", "__CRC32#": "1"}
    message = Message(topic="T", queue_id=3, body=b"m", properties=properties, flag=7)

    waiting = turn_to_wheel(message, 1_758_000_001_000)

    assert (waiting.topic, waiting.queue_id) == ("rmq_sys_wheel_timer", 0)
    assert (waiting.body, waiting.flag) == (b"m", 7)
    assert waiting.properties == {
        "TIMER_DELAY_SEC": "1",
        "UNIQ_KEY": "K",
        "TIMER_OUT_MS": "1758000001000",
        "REAL_TOPIC": "T",
        "REAL_QID": "3",
    }
    handle = base64.urlsafe_b64decode(recall_handle(waiting, "b") or "").decode()
    assert handle == "v1 T b 1758000001001 K"


def test_only_waiting_messages_that_are_no_retries_have_a_handle():
    plain = Message(topic="T", queue_id=0, body=b"m", properties={"UNIQ_KEY": "K"})
    retry = Message(topic="%RETRY%g", queue_id=0, body=b"m", properties={"UNIQ_KEY": "K"})

    handles = [recall_handle(one, "b") for one in (plain, turn_to_wheel(retry, 1000))]

    assert handles == [None, None]
