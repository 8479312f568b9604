"""How far a group is with a message is concluded from the brokers' reports, and no more than
that."""

import pytest

from backend.domain.message import Copies, DeliveryState, StoredMessage, judge_delivery


def message(offset=7, *, topic="orders", queue_id=0, stored_at_ms=2, reconsume_times=0):
    return StoredMessage(
        broker_group_name="broker-a",
        topic=topic,
        queue_id=queue_id,
        queue_offset=offset,
        log_position=100,
        message_id="ID",
        born_at_ms=1,
        born_host="10.0.0.5:1",
        stored_at_ms=stored_at_ms,
        store_host="10.0.0.1:10911",
        reconsume_times=reconsume_times,
        sys_flag=0,
        size_bytes=100,
        properties={"KEYS": "a b", "UNIQ_KEY": "U"},
        body=b"",
    )


RETRY = message(0, topic="%RETRY%g", reconsume_times=2)
DEAD = message(0, topic="%DLQ%g", reconsume_times=16)


@pytest.mark.parametrize(
    ("committed", "copies", "state"),
    [
        (8, Copies(), DeliveryState.CONSUMED),
        (7, Copies(), DeliveryState.PENDING),
        (0, None, DeliveryState.PENDING),
        (None, Copies(), DeliveryState.UNKNOWN),
        # It may have failed there: it could not be checked.
        (8, None, DeliveryState.UNKNOWN),
        (8, Copies(RETRY, is_retry_read=False), DeliveryState.RETRYING),
        (8, Copies(RETRY, is_retry_read=True), DeliveryState.CONSUMED),
        (8, Copies(RETRY, is_retry_read=None), DeliveryState.UNKNOWN),
        (8, Copies(RETRY, is_retry_read=True, dead=DEAD), DeliveryState.DEAD_LETTER),
        (None, Copies(dead=DEAD), DeliveryState.DEAD_LETTER),
    ],
)
def test_the_state_follows_from_offsets_and_copies(committed, copies, state):
    reported = judge_delivery("g", message(), committed, copies)

    assert (reported.consumer_group_name, reported.state) == ("g", state)
    assert reported.why


def test_keys_and_ids_are_read_from_the_properties():
    assert (message().keys, message().unique_key, message().tags) == (("a", "b"), "U", None)
