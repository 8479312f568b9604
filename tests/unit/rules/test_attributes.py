import pytest

from backend.domain.topic_layout import MessageType
from backend.rules.attributes import (
    GROUP_ATTRIBUTES,
    MESSAGE_TYPES,
    TOPIC_ATTRIBUTES,
    InvalidAttributes,
    changed_attributes,
    is_replicated,
    parse_changes,
)


def change_topic(former, text):
    return changed_attributes(TOPIC_ATTRIBUTES, former, parse_changes(text))


@pytest.mark.parametrize(
    ("former", "text", "after"),
    [
        (None, "", {}),
        (None, "+message.type=FIFO", {"message.type": "FIFO"}),
        (None, "+queue.type=SimpleCQ, +cleanup.policy=COMPACTION", None),
        ({"message.type": "FIFO"}, "+message.type=NORMAL", {"message.type": "NORMAL"}),
        ({"message.type": "FIFO"}, "-message.type", {}),
        ({"message.type": "FIFO"}, "+reserve.time=-1", None),
        ({"no.such": "1"}, "-no.such", {}),
        ({"no.such": "1"}, "+message.type=MIXED", {"no.such": "1", "message.type": "MIXED"}),
        (None, "+lite.topic.expiration=43200", {"lite.topic.expiration": "43200"}),
    ],
)
def test_changes_that_stock_allows_are_applied(former, text, after):
    found = change_topic(former, text)

    assert after is None or found == after


@pytest.mark.parametrize(
    ("former", "text", "reason"),
    [
        # Case A13, and what is like it.
        (None, "+message.type=WRONG", "can't be 'WRONG': one of UNSPECIFIED, NORMAL"),
        (None, "+message.type=fifo", "can't be 'fifo'"),
        (None, "+message.type=", "can't be ''"),
        (None, "+no.such=1", "no.such is unknown; there are cleanup.policy"),
        (None, "-message.type", "can't be removed from something new"),
        ({}, "-message.type", "it is not set"),
        ({}, "+no.such=1", "unknown"),
        ({}, "+queue.type=SimpleCQ", "only be set at creation"),
        ({"queue.type": "SimpleCQ"}, "-queue.type", "only be set at creation"),
        # Messages do not change their log.
        ({}, "+replicate=false", "only be set at creation"),
        ({"replicate": "false"}, "+replicate=true", "only be set at creation"),
        ({"replicate": "false"}, "-replicate", "only be set at creation"),
        (None, "+replicate=no", "one of true, false"),
        (None, "+message.type=FIFO,+message.type=DELAY", "changed twice"),
        ({"message.type": "FIFO"}, "+message.type=DELAY,-message.type", "changed twice"),
        (None, "+reserve.time=-2", "-1 to"),
        (None, "+reserve.time=1.5", "-1 to"),
        (None, "+reserve.time=9223372036854775808", "-1 to"),
        (None, "+lite.topic.expiration=43201", "-1 to 43200"),
        (None, "message.type=FIFO", "malformed"),
        (None, "+message.type", "malformed"),
        ({"message.type": "FIFO"}, "-message.type=FIFO", "malformed"),
        (None, "++message.type=FIFO", "malformed"),
        (None, "+=1", "malformed"),
        (None, "-", "malformed"),
    ],
)
def test_changes_that_stock_refuses_are_refused_with_the_reason(former, text, reason):
    with pytest.raises(InvalidAttributes, match=reason):
        change_topic(former, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("+replicate=true", True),
        ("+replicate=TRUE", True),
        ("+replicate=false", False),
        ("+replicate=False", False),
    ],
)
def test_a_topic_is_replicated_unless_its_attribute_says_otherwise(text, expected):
    assert is_replicated(change_topic(None, text)) is expected


def test_batch_queues_are_refused_by_name():
    with pytest.raises(InvalidAttributes, match=r"queue\.type can't be 'BatchCQ': only RocketMQ"):
        change_topic(None, "+queue.type=BatchCQ")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("priority.factor", ("0", "100"), ("-1", "101", "x")),
        ("lite.sub.model", ("Shared", "Exclusive"), ("shared", "")),
        ("lite.sub.reset.offset.exclusive", ("true", "FALSE"), ("yes", "1")),
        ("lite.sub.client.quota", ("-1", "2000"), ("-2",)),
        ("lite.sub.client.max.event.cnt", ("10",), ("9",)),
        ("lite.bind.topic", ("anything",), ()),
    ],
)
def test_attributes_of_groups_have_stocks_values(name, good, bad):
    # Case A13.
    for value in good:
        found = changed_attributes(GROUP_ATTRIBUTES, None, [(f"+{name}", value)])
        assert found == {name: value}
    for value in bad:
        with pytest.raises(InvalidAttributes):
            changed_attributes(GROUP_ATTRIBUTES, {name: good[0]}, [(f"+{name}", value)])


def test_what_is_read_and_written_back_changes_nothing():
    held = {"priority.factor": "50", "of.a.newer.version": "1"}

    assert changed_attributes(GROUP_ATTRIBUTES, held, held.items()) == held


def test_operators_can_order_each_message_type_that_agents_serve():
    # Lite topics are of RocketMQ alone.
    assert {*MessageType} == {*MESSAGE_TYPES} - {"LITE"}
