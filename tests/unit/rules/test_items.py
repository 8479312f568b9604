"""One rule judges topics and groups, wherever they come from, and each item for itself."""

import json
import zlib

import pytest

from backend.remoting.bodies import (
    decode_group_table,
    decode_heartbeat,
    decode_left_out,
    decode_register_broker_body,
    decode_topic_table,
    encode_left_out,
)
from backend.remoting.java_json import InvalidJson
from workers.broker.commit_log.delay_delivery import decode_delay_file
from workers.broker.tables.consumer_offsets import ConsumerOffsets, decode_offset_file

GOOD = {"topicName": "good", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
ODD = [
    ("many", {"readQueueNums": 70_000}, "readQueueNums is 70000; 0 to 65535"),
    ("few", {"writeQueueNums": -1}, "writeQueueNums is -1"),
    ("perm", {"perm": 22}, "perm is 22; 0 to 15"),
    ("flag", {"topicSysFlag": -1}, "topicSysFlag is -1"),
    ("huge", {"topicSysFlag": 1 << 80}, "topicSysFlag is "),
    ("kind", {"topicFilterType": "NO_TAG"}, "SINGLE_TAG or MULTI_TAG"),
    ("a b", {}, "holds a blank"),
    ("", {}, "is empty"),
    ("a\0b", {}, "U+0000"),
    ("../a", {}, "holds '/'"),
    ("x" * 256, {}, "longer than 255 bytes"),
    ("text", {"perm": "six"}, "int"),
    ("null", {"attributes": None}, "object"),
    ("other", {"topicName": "another"}, "topicName is 'another'"),
]


def table_with(name, fields):
    topics = {"good": GOOD, name: {"topicName": name, **fields}}
    return {"dataVersion": {"counter": 1}, "topicConfigTable": topics}


@pytest.mark.parametrize(("name", "fields", "reason"), ODD)
def test_an_odd_topic_of_a_table_is_left_out_and_named(name, fields, reason):
    # Cases A3 to A5.
    content = table_with(name, fields)

    table, left_out = decode_topic_table(json.dumps(content).encode())
    body = json.dumps({"topicConfigSerializeWrapper": content}).encode()
    reported, left_out_there = decode_register_broker_body(body, compressed=False, version=500)

    assert set(table.topics) == set(reported.topic_table.topics) == {"good"}
    assert [one.name for one in left_out] == [one.name for one in left_out_there] == [name]
    assert reason in left_out[0].reason


def test_half_a_character_takes_no_other_topic_along():
    # Case A4.
    text = json.dumps(table_with("half\ud800", {}))

    table, left_out = decode_topic_table(text.encode())

    assert set(table.topics) == {"good"}
    assert left_out[0].reason == "holds half a character"
    assert "ud800" in left_out[0].name


def test_what_is_no_item_of_a_table_is_still_refused():
    for text in (b'{"dataVersion":{"counter":"x"}}', b'{"topicConfigTable":7}', b"{", b"[]"):
        with pytest.raises(InvalidJson):
            decode_topic_table(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a b 4 4 6 SINGLE_TAG {}", "a b"),
        ("t 70000 4 6 SINGLE_TAG {}", "t"),
        ("t 4 4 22 SINGLE_TAG {}", "t"),
        ("t 4 -1 6 SINGLE_TAG {}", "t"),
        ("t 4 4 6 SINGLE_TAG {", "t 4 4 6 SINGLE_TAG {"),
        ("t 4 4", "t 4 4"),
        ("t four 4 6 SINGLE_TAG {}", "t four 4 6 SINGLE_TAG {}"),
    ],
)
def test_an_odd_topic_of_the_compressed_form_is_left_out_and_named(text, name):
    # Case A4.
    def section(content):
        return len(content).to_bytes(4, "big") + content

    topics = [b'good 4 4 6 SINGLE_TAG {"message.type":"FIFO"}', text.encode()]
    parts = [section(b"{}"), (2).to_bytes(4, "big"), *map(section, topics), section(b"[]")]
    infos = [(2).to_bytes(4, "big"), section(b'{"topic":"good"}'), section(b"{")]
    body = zlib.compress(b"".join([*parts, *infos]))

    reported, left_out = decode_register_broker_body(body, compressed=True, version=500)

    assert reported.topic_table.topics["good"].attributes == {"message.type": "FIFO"}
    assert set(reported.topic_table.topics) == {"good"}
    assert sorted(one.name for one in left_out) == sorted(["1", name])


@pytest.mark.parametrize(
    ("name", "fields", "reason"),
    [
        ("g g", {}, "illegal characters"),
        ("x" * 256, {}, "longer than 255"),
        ("g", {"retryQueueNums": 65_536}, "retryQueueNums is 65536"),
        ("g", {"retryQueueNums": -1}, "retryQueueNums is -1"),
        ("g", {"retryMaxTimes": 1 << 40}, "int"),
        ("g", {"groupName": "h"}, "groupName is 'h'"),
    ],
)
def test_an_odd_group_of_a_table_is_left_out_and_named(name, fields, reason):
    # Case A5.
    groups = {"good": {"groupName": "good"}, name: {"groupName": name, **fields}}

    table, left_out = decode_group_table(json.dumps({"subscriptionGroupTable": groups}).encode())

    assert set(table.groups) == {"good"}
    assert [one.name for one in left_out] == [name]
    assert reason in left_out[0].reason


def test_an_odd_offset_is_left_out_and_stays_in_the_file():
    # Case A5.
    content = {
        "offsetTable": {
            "t@g": {"0": 5, "1": "six", "two": 7, "3": 1 << 70},
            "u@g": [1],
            "v@g": {"0": 8},
        }
    }

    file, left_out = decode_offset_file(json.dumps(content).encode())
    offsets = ConsumerOffsets(file, left_out)
    offsets.commit("g", "t", queue_id=1, offset=9)

    assert offsets.table == {"t@g": {0: 5, 1: 9}, "v@g": {0: 8}}
    assert len(left_out) == 4
    written = json.loads(offsets.as_file())["offsetTable"]
    assert written["t@g"] == {"0": 5, "1": 9, "two": 7, "3": 1 << 70}
    assert written["u@g"] == [1]


def test_an_odd_level_of_the_delays_is_left_out():
    # Case A5.
    file, left_out = decode_delay_file(b'{"offsetTable":{1:5,2:"x",3:7}}')

    assert (file.offsets, [one.name for one in left_out]) == ({1: 5, 3: 7}, ["2"])


def test_an_odd_subscription_of_a_heartbeat_takes_no_other_along():
    # Case A3 to A5: "heartbeats".
    good = {"topic": "T", "subString": "*"}
    consumer = {
        "groupName": "g",
        "subscriptionDataSet": [good, {"topic": "a b"}, {"topic": "U", "subVersion": "x"}],
    }
    content = {
        "clientID": "c",
        "consumerDataSet": [consumer, {"groupName": "g g"}, {"groupName": 7}, "nothing"],
        "producerDataSet": [{"groupName": None}, {"groupName": "p"}],
    }

    reported, left_out = decode_heartbeat(json.dumps(content).encode())

    assert [one.topic for one in reported.consumers[0].subscriptions] == ["T"]
    assert [one.group_name for one in reported.consumers] == ["g"]
    assert [one.group_name for one in reported.producers] == ["p"]
    assert len(left_out) == 6


def test_what_a_broker_left_out_is_reported_within_bounds():
    _, left_out = decode_topic_table(
        json.dumps(
            {"topicConfigTable": {f"t {n}": {"topicName": f"t {n}"} for n in range(50)}}
        ).encode()
    )

    reported = decode_left_out(encode_left_out(left_out))

    assert (reported.count, len(reported.items)) == (50, 20)
    assert (reported.items[0].kind, reported.items[0].name) == ("topic", "t 0")
    assert decode_left_out("{").count == decode_left_out(None).count == 0
