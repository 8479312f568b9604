import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.remoting import java_json
from backend.remoting.bodies import BrokerData, DataVersion, HeartbeatData, MessageQueue
from backend.remoting.java_json import InvalidJson

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_bare_integer_keys_are_read():
    assert java_json.loads(b'{"offsetTable":{1:5,3:7}}') == {"offsetTable": {"1": 5, "3": 7}}


def test_an_object_key_becomes_its_sorted_text():
    text = b'{{"topic":"T","queueId":0,"brokerName":"b"}:{"maxOffset":10}}'

    table = java_json.loads(text)

    assert table == {'{"brokerName":"b","queueId":0,"topic":"T"}': {"maxOffset": 10}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # A brace within a text ends no object, nor does an escaped quote end the text.
        (b'{{"b":"}","a":"{"}:{"x":"\\"}"}}', {'{"a":"{","b":"}"}': {"x": '"}'}}),
        (b'{{"b":{"c":[1]},"a":2}:3}', {'{"a":2,"b":{"c":[1]}}': 3}),
        (b'{0 : { "x" : NaN , y:1 } }', {"0": {"x": None, "y": 1}}),
        (b"{{}:{}}", {"{}": {}}),
    ],
)
def test_lenient_and_strict_objects_mix(text, value):
    assert java_json.loads(text) == value


def test_a_typed_body_with_bare_keys_is_read():
    body = b'{"brokerAddrs":{0:"10.0.0.1:10911",1:"x:1"},"brokerName":"b","cluster":"c"}'

    assert java_json.decode(body, BrokerData).addresses == {0: "10.0.0.1:10911", 1: "x:1"}


def test_enumerations_by_number_and_unknown_members_are_read():
    body = b'{"clientID":"c","consumerDataSet":[{"consumeFromWhere":4,"new":[1]}],"more":{}}'

    assert java_json.decode(body, HeartbeatData).consumers[0].consume_from_where == 4


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[1",
        b'{"a" 1}',
        b'{"a":}',
        b'{"a":1 "b":2}',
        b'"open',
        b"{}{}",
        b"nonsense",
        b"\xff",
        b"[" * 1000,
        b"{" * 1000,
        b"1" * 5000,
        b"--1",
        b"{a:b}",
        b'{{"a":"\\ud800"}:1}',
        b'{"\\udfff":1}',
        b'["a\\ud800b"]',
    ],
)
def test_what_is_not_json_is_an_error(text):
    with pytest.raises(InvalidJson):
        java_json.loads(text)


def test_a_body_of_another_shape_is_an_error():
    with pytest.raises(InvalidJson):
        java_json.decode(b'{"counter":"x"}', DataVersion)
    with pytest.raises(InvalidJson):
        java_json.decode(b'{counter:"x"}', DataVersion)


@pytest.mark.parametrize("text", [b'{"counter":1,"x":%s' % (b"[" * 5000), b'{"x":"\\ud83d"}'])
def test_a_body_too_deep_or_with_half_a_character_is_an_error(text):
    with pytest.raises(InvalidJson):
        java_json.decode(text, dict)


def test_a_pair_of_escapes_is_one_character():
    assert java_json.decode(b'{0:"\\ud83d\\ude00"}', dict) == {"0": "\U0001f600"}


def test_the_object_map_is_written_as_java_writes_it():
    queue = MessageQueue(broker_name="b", queue_id=0, topic="T")

    text = java_json.encode_object_map([(queue, 5), (queue, 6)])

    assert text == (
        b'{{"brokerName":"b","queueId":0,"topic":"T"}:5,{"brokerName":"b","queueId":0,"topic":"T"}:6}'
    )


@given(VALUES)
def test_everything_strict_is_read_as_the_standard_reader_does(value):
    text = json.dumps(value).encode()

    assert java_json.loads(text) == value


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_fail_otherwise(data):
    with contextlib.suppress(InvalidJson):
        java_json.loads(data)
