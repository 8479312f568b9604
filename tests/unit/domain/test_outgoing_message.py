"""What a message may hold that is sent from here, and where it may go."""

import base64

import pytest

from backend.domain.message_errors import InvalidMessage, NoQueueForMessage
from backend.domain.orders.message import BodyEncoding, MessageProperty, SendMessage
from backend.domain.outgoing_message import (
    BODY_BYTES_MAX,
    OutgoingMessage,
    Place,
    check_delay,
    choose_place,
    make_properties,
    read_body,
)
from backend.domain.topic import QueueSettings


def order(**given):
    return SendMessage(**{"cluster_name": "c", "topic_name": "orders", "body": "x", **given})


def place(name, *, queues=4, permissions=6, address="10.0.0.1:10911"):
    return Place(name, address, QueueSettings(queues, queues, permissions))


def test_a_body_is_text_or_any_bytes_in_base64():
    text = base64.b64encode(b"\xff\x00").decode()

    assert read_body(order(body="ü")) == "ü".encode()
    assert read_body(order(body=text, body_encoding=BodyEncoding.BASE64)) == b"\xff\x00"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"body": "%", "body_encoding": BodyEncoding.BASE64}, "no base64"),
        ({"body": "", "body_encoding": BodyEncoding.BASE64}, "empty"),
        ({"body": "x" * (BODY_BYTES_MAX + 1)}, "use a producer"),
    ],
)
def test_a_body_that_can_not_be_sent_says_why(given, why):
    with pytest.raises(InvalidMessage, match=why):
        read_body(order(**given))


def test_the_largest_body_is_sent():
    assert len(read_body(order(body="x" * BODY_BYTES_MAX))) == BODY_BYTES_MAX


def test_properties_hold_keys_tag_and_delay_as_the_protocol_spells_them():
    given = order(
        keys=("a", "b"), tag="red", delay_level=3, properties=(MessageProperty("x", "1"),)
    )

    made = make_properties(given, "U")

    assert made == {
        "UNIQ_KEY": "U",
        "WAIT": "true",
        "KEYS": "a b",
        "TAGS": "red",
        "DELAY": "3",
        "x": "1",
    }


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"keys": ("a b",)}, "give several keys"),
        ({"tag": " red"}, "no filter matches"),
        ({"properties": (MessageProperty("DELAY", "3"),)}, "use delay_level instead"),
        ({"properties": (MessageProperty("__RMQ.TRANSIENT.x", "3"),)}, "choose another name"),
        ({"properties": (MessageProperty("x", "1"), MessageProperty("x", "2"))}, "given twice"),
        ({"properties": (MessageProperty("x", "\x02"),)}, "separates properties"),
        (
            {"properties": tuple(MessageProperty(f"p{n}", "v" * 9_000) for n in range(4))},
            "32767 are the most",
        ),
    ],
)
def test_a_key_tag_or_property_against_the_protocol_is_refused(given, why):
    with pytest.raises(InvalidMessage, match=why):
        make_properties(order(**given), "U")


def test_messages_are_spread_over_the_queues_of_all_groups_that_take_them():
    places = [place("a"), place("b", queues=2), place("full", permissions=4)]

    chosen = {
        (found.broker_group_name, queue_id)
        for number in range(32)
        for found, queue_id in [choose_place(order(), places, number)]
    }

    assert chosen == {*(("a", one) for one in range(4)), ("b", 0), ("b", 1)}


def test_a_queue_of_one_group_is_found_without_its_name():
    found, queue_id = choose_place(order(queue_id=3), [place("a"), place("b", queues=2)], 7)

    assert (found.broker_group_name, queue_id) == ("a", 3)


def test_a_queue_of_several_groups_needs_the_group():
    with pytest.raises(InvalidMessage, match="name one of a, b"):
        choose_place(order(queue_id=1), [place("a"), place("b")], 0)


def test_where_no_group_takes_a_message_each_says_why():
    places = [place("a", permissions=4), place("b", address=None)]

    with pytest.raises(NoQueueForMessage) as refused:
        choose_place(order(), places, 0)

    assert refused.value.refusals == {
        "a": "the topic is not writable",
        "b": "no master is online",
    }
    assert "a: the topic is not writable; b: no master is online" in str(refused.value)


def test_a_delay_that_the_broker_would_shorten_is_refused():
    check_delay(2, "1s 5s")

    with pytest.raises(InvalidMessage, match=r"2 delay levels \(1s 5s\)"):
        check_delay(3, "1s 5s")


def test_a_body_is_in_no_text_of_its_message():
    message = OutgoingMessage("orders", 0, {"UNIQ_KEY": "U"}, 0, body=b"salary")

    assert "salary" not in repr(message)
    assert len(message.digest) == 64
