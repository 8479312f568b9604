"""How a dead letter is sent again, and how its copy is recognised."""

from collections.abc import Sequence
from dataclasses import replace

from backend.domain.dead_letter import (
    choose_letters,
    copy_of,
    cut_batches,
    destination_topic,
    is_copy,
)
from backend.domain.message import StoredMessage
from backend.domain.orders.dead_letter import Destination

LETTER = StoredMessage(
    broker_group_name="broker-a",
    topic="%DLQ%billing",
    queue_id=0,
    queue_offset=7,
    log_position=4711,
    message_id="AA",
    born_at_ms=1,
    born_host="10.0.0.7:4000",
    stored_at_ms=2,
    store_host="10.0.0.1:10911",
    reconsume_times=16,
    sys_flag=1 | 16 | 8 | 0x300,
    size_bytes=100,
    properties={
        "UNIQ_KEY": "U",
        "KEYS": "k",
        "RETRY_TOPIC": "orders",
        "ORIGIN_MESSAGE_ID": "BB",
        "DELAY": "0",
        "TRAN_MSG": "true",
    },
    body=b"x",
    flag=5,
)
MARKS = {"REGENT_DEAD_LETTER": "AA", "REGENT_OPERATION": "op"}


def test_a_copy_for_the_group_keeps_the_origin_and_drops_the_delivery_that_failed():
    topic = destination_topic(LETTER, Destination.RETRY, "billing")
    assert topic == "%RETRY%billing"

    copy = copy_of(LETTER, topic, "op")

    assert copy.properties == {
        "UNIQ_KEY": "U",
        "KEYS": "k",
        "RETRY_TOPIC": "orders",
        "ORIGIN_MESSAGE_ID": "BB",
        **MARKS,
    }
    # Compressed as it was; neither half of a transaction nor with a separate address.
    assert (copy.sys_flag, copy.flag, copy.body) == (1 | 0x300, 5, b"x")


def test_a_copy_for_the_original_topic_is_a_separate_message():
    topic = destination_topic(LETTER, Destination.TOPIC, "billing")
    assert topic == "orders"

    assert copy_of(LETTER, topic, "op").properties == {"UNIQ_KEY": "U", "KEYS": "k", **MARKS}


def test_where_the_original_topic_is_not_known_there_is_no_destination():
    letter = replace(LETTER, properties={})

    assert destination_topic(letter, Destination.TOPIC, "billing") is None
    assert copy_of(letter, "%RETRY%billing", "op").unique_key == "AA"


def test_a_copy_is_distinguished_from_its_retries_and_from_copies_of_other_operations():
    copy = replace(LETTER, reconsume_times=0, properties={**LETTER.properties, **MARKS})

    assert is_copy(copy, LETTER, "op")
    assert not is_copy(replace(copy, reconsume_times=1), LETTER, "op")
    assert not is_copy(copy, LETTER, "another")
    assert not is_copy(copy, replace(LETTER, message_id="CC"), "op")
    assert not is_copy(LETTER, LETTER, "op")


class Queue(Sequence):
    """The offsets of a queue, of which only some may be looked at one by one."""

    def __init__(self, count, *, looked_at_max):
        self.offsets, self.left = range(count), looked_at_max

    def __len__(self):
        return len(self.offsets)

    def __contains__(self, offset):
        return offset in self.offsets

    def __getitem__(self, index):
        self.left -= 1
        assert self.left >= 0, "more offsets are looked at than are chosen"
        return self.offsets[index]


def test_of_millions_of_dead_letters_only_those_are_looked_at_that_are_chosen():
    many = {("a", 0): Queue(5_000_000, looked_at_max=5), ("b", 0): Queue(7, looked_at_max=0)}

    chosen, left_count = choose_letters(many, {("a", 0): {1, 2, 9_000_000}}, count_max=3)

    assert chosen == {("a", 0): [0, 3, 4]}
    assert left_count == 5_000_000 - 2 + 7


def test_dead_letters_of_several_queues_are_chosen_up_to_the_limit():
    asked = {("b", 1): range(2, 5), ("a", 0): [4, 6]}

    assert choose_letters(asked, {("a", 0): {4}}, count_max=3) == (
        {("a", 0): [6], ("b", 1): [2, 3]},
        4,
    )
    assert choose_letters(asked, {("a", 0): {4, 6}, ("b", 1): {2, 3, 4}}, count_max=3) == ({}, 0)


def test_a_batch_ends_with_its_queue_and_lasts_ten_seconds_at_most():
    chosen = {("b", 0): range(3), ("a", 0): range(5, 130)}

    fast = list(cut_batches(chosen, messages_per_second=1_000))
    slow = list(cut_batches({("a", 0): range(25)}, messages_per_second=1))

    assert [(name, len(offsets)) for name, _, offsets in fast] == [("a", 100), ("a", 25), ("b", 3)]
    assert [len(offsets) for _, _, offsets in slow] == [10, 10, 5]
