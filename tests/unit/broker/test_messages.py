import random

import pytest

from workers.broker.commit_log.message import (
    Message,
    delay_level_of,
    is_batch,
    turn_aside,
    unique_key,
)
from workers.broker.errors import Refusal


def message(**properties):
    return Message(topic="T", queue_id=3, body=b"x", properties=properties)


def test_a_message_without_a_level_stays():
    for properties in ({}, {"DELAY": "0"}, {"DELAY": "-1"}):
        assert turn_aside(message(**properties), 18) == message(**properties)


@pytest.mark.parametrize(("level", "queue_id"), [(1, 0), (18, 17), (99, 17)])
def test_a_delayed_message_waits_in_the_queue_of_its_level(level, queue_id):
    properties = {"__CRC32#": "x", "DELAY": str(level), "TIMER_DELAY_SEC": "5", "KEYS": "k"}
    aside = turn_aside(message(**properties), 18)

    assert (aside.topic, aside.queue_id) == ("SCHEDULE_TOPIC_XXXX", queue_id)
    assert aside.properties == {
        "DELAY": str(queue_id + 1),
        "KEYS": "k",
        "REAL_TOPIC": "T",
        "REAL_QID": "3",
    }


def test_a_level_is_a_whole_number_as_in_java():
    texts = ("3", "+3", "003", "-2", "0", "2147483647")

    assert [delay_level_of({"DELAY": text}) for text in texts] == [3, 3, 3, 0, 0, 2147483647]


@pytest.mark.parametrize(
    "text", ["x", "", "1.5", " 3", "3 ", "1_0", "1e1", "²", "2147483648", "-2147483649", "9" * 5000]
)
def test_a_level_that_is_no_number_is_refused(text):
    # Case A12.
    with pytest.raises(Refusal, match="no delay level") as refused:
        delay_level_of({"DELAY": text})

    assert refused.value.code == 13
    assert len(str(refused.value)) < 200


def test_a_key_has_the_form_of_client_keys():
    key = unique_key(("10.0.0.5", 50_000), 1_758_000_000_000, random.Random(1))

    assert len(key) == 32
    assert key.startswith("0A000005C350")
    assert int(key, 16)


@pytest.mark.parametrize("body", [b"", b"\0", b"\0\0\0\0", b"\0\0\0\x16" + bytes(18), b"x" * 50])
def test_other_bytes_are_no_batch(body):
    assert is_batch(body) == (body == b"\0\0\0\x16" + bytes(18))
