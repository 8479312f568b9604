"""What follows from the state of a share queue, and how settings are written."""

import dataclasses

import pytest

from backend.domain.queue_lock import BrokerKey, Holder
from backend.domain.share_mode import ShareMode
from backend.domain.share_queue import (
    ConsumeMode,
    ConsumeSetting,
    HeldShareQueue,
    ShareMessage,
    ShareQueue,
    ShareQueueFilter,
)

HELD = HeldShareQueue(
    topic="orders",
    queue_id=3,
    consumer_group_name="billing",
    mode=ShareMode.PRIMARY,
    consume_mode=None,
    epoch=7,
    reset_epoch=0,
    is_used=True,
    is_ordered=False,
    attempt_count_max=16,
    discards=False,
    start=100,
    end=110,
    max_offset=150,
    window_size=4096,
    acquired_count=4,
    returned_count=0,
    finished_count=6,
    oldest_acquired_ms=1000,
    oldest_delivered_ms=2000,
    delivered_count=110,
    redelivered_count=0,
    accepted_count=106,
    dead_letter_count=0,
    discarded_count=0,
    retried_count=0,
    counted_ms=60_000,
)
MESSAGE = ShareMessage(
    offset=100,
    pop_time_ms=1,
    tag=7,
    is_acquired=True,
    client_id="c1",
    is_connected=True,
    acquired_ms=1000,
    delivered_ms=2000,
    due_in_ms=500,
    delivery_count=1,
)


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 44),
        ({"start": 150, "end": 150, "finished_count": 0}, 0),
        # Its topic was deleted and created again.
        ({"max_offset": 0}, 0),
    ],
)
def test_unfinished_are_the_messages_behind_the_position_but_those_that_are_finished(
    changes, count
):
    assert dataclasses.replace(HELD, **changes).unfinished_count == count


def test_o48_a_window_is_full_once_it_has_all_its_offsets():
    assert not dataclasses.replace(HELD, end=100 + 4095).is_full
    assert dataclasses.replace(HELD, end=100 + 4096).is_full


def test_a_message_has_a_holder_only_while_a_consumer_has_it():
    gone = dataclasses.replace(MESSAGE, is_connected=False)
    waiting = dataclasses.replace(gone, is_acquired=False, client_id=None)

    assert [one.holder for one in (MESSAGE, gone, waiting)] == [
        Holder.CONNECTED,
        Holder.GONE,
        None,
    ]


def test_a_filter_takes_what_fulfils_all_its_conditions():
    queue = ShareQueue.of_master(BrokerKey("east", "broker-a", 0, "10.0.0.1:10911", 1), HELD)
    all_of_them = {
        "cluster_name": "east",
        "consumer_group_name": "billing",
        "topic": "orders",
        "broker_group_name": "broker-a",
        "queue_id": 3,
    }

    assert ShareQueueFilter().takes(queue)
    assert ShareQueueFilter(**all_of_them).takes(queue)
    for name in all_of_them:
        other = 4 if name == "queue_id" else "other"
        assert not ShareQueueFilter(**{**all_of_them, name: other}).takes(queue)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (ConsumeSetting(ConsumeMode.PULL), "PULL"),
        (ConsumeSetting(ConsumeMode.PULL, 2), "PULL"),
        (ConsumeSetting(ConsumeMode.POP), "POP"),
        (ConsumeSetting(ConsumeMode.POP, 2), "POP with the queues of 2 other clients"),
    ],
)
def test_a_setting_is_written_in_words(setting, text):
    assert setting.text == text
