"""Mappings are written and read as stock does; the files beside this are from stock 5.5.0."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.mapping import BrokerMapping, MappingInfo
from backend.domain.logical_queue.segment import INT32_MAX, INT64_MAX, INT64_MIN, QueueSegment
from backend.domain.logical_queue.segment_checks import check_segments
from backend.domain.logical_queue.stock_json import (
    PlanFileKind,
    PlannedBroker,
    decode_info,
    decode_mapping,
    decode_plan_file,
    encode_info,
    encode_mapping,
    encode_plan_file,
    read_info,
    without_ends,
)
from tests.unit.domain.logical_queue.builders import segment

FOLDER = Path(__file__).parent
MAPPING = (FOLDER / "stock_mapping.json").read_text()
INFO = (FOLDER / "stock_info.json").read_text()
PLAN = (FOLDER / "stock_plan.json").read_text()

INT32 = st.integers(-INT32_MAX - 1, INT32_MAX)
INT64 = st.integers(INT64_MIN, INT64_MAX)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SEGMENTS = st.builds(QueueSegment, INT32, TEXTS, INT32, INT64, INT64, INT64, INT64, INT64)
INFOS = st.builds(
    MappingInfo,
    TEXTS,
    TEXTS,
    INT64,
    INT32,
    TEXTS,
    st.booleans(),
    st.dictionaries(INT32, INT32, max_size=3),
)
MAPPINGS = st.builds(
    BrokerMapping,
    INFOS,
    st.dictionaries(INT32, st.lists(SEGMENTS, max_size=3).map(tuple), max_size=3),
)


def quoted(text):
    """Quote the integer keys of a text of stock; none of these files has such text in a string."""
    return re.sub(r"([{,\t])(\d+):", r'\1"\2":', text)


def test_what_stock_writes_is_read_and_written_again_byte_for_byte_l64():
    assert encode_mapping(decode_mapping(MAPPING)) == quoted(MAPPING)
    assert encode_info(decode_info(INFO)) == quoted(INFO)
    assert quoted(MAPPING) != MAPPING


def test_a_registration_has_the_generations_and_a_stored_mapping_has_them_in_its_lists():
    mapping = decode_mapping(MAPPING)

    told = mapping.registered

    assert told.generations.keys() == told.led.keys() != set()
    assert decode_info(encode_info(told)) == told
    assert read_info(json.loads(encode_info(told))) == told
    assert read_info(json.loads(quoted(INFO))).generations == {}
    assert "currGenMap" not in encode_mapping(mapping)
    with pytest.raises(InvalidQueueMapping):
        read_info(json.loads(quoted(INFO)) | {"currGenMap": {"0": "1"}})


def test_keys_are_read_with_and_without_quotes_l64():
    assert decode_mapping(quoted(MAPPING)) == decode_mapping(MAPPING)
    assert decode_info(
        '{"bname":"b","currIdMap":{ 7 : 1 , 3:2},"dirty":false,"epoch":1,'
        '"scope":"s","topic":"a {1:2}","totalQueues":8}'
    ).led == {3: 2, 7: 1}


def test_extreme_numbers_and_texts_of_stock_are_kept():
    last = decode_mapping(MAPPING).hosted[11][0]

    assert last == QueueSegment(
        INT32_MAX, 'b"2é/\x01<', INT32_MAX, INT64_MAX, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN
    )


def test_a_plan_file_of_stock_is_read_and_written_again():
    plan = decode_plan_file(PLAN)

    assert (plan.topic_name, plan.kind) == ("T", PlanFileKind.REMAPPING)
    assert (plan.incoming, plan.outgoing) == (("b2",), ("b1",))
    assert plan.brokers["b1"].layout.write_queue_count == 0
    # Stock writes broker groups in the order of a hash table, and here their names decide.
    assert json.loads(encode_plan_file(plan)) == json.loads(quoted(PLAN))
    assert encode_plan_file(decode_plan_file(encode_plan_file(plan))) == encode_plan_file(plan)


def test_a_plan_for_a_broker_without_a_mapping_has_no_detail():
    plan = decode_plan_file(PLAN)
    bare = replace(plan, brokers={"b1": replace(plan.brokers["b1"], mapping=None)})

    assert "mappingDetail" not in encode_plan_file(bare)
    assert decode_plan_file(encode_plan_file(bare)) == bare
    assert isinstance(bare.brokers["b1"], PlannedBroker)


@given(MAPPINGS, st.booleans())
def test_every_mapping_is_read_as_it_was_written(mapping, is_pretty):
    text = encode_mapping(mapping, is_pretty=is_pretty)

    assert decode_mapping(text) == mapping
    assert encode_mapping(decode_mapping(text), is_pretty=is_pretty) == text


GOOD = (
    '{"bname":"b1","endOffset":-1,"gen":0,"logicOffset":0,"queueId":0,"startOffset":0,'
    '"timeOfEnd":-1,"timeOfStart":-1}'
)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"gen":0', '"gen":0.0', "gen"),
        ('"gen":0', '"gen":true', "gen"),
        ('"gen":0', '"gen":"0"', "gen"),
        ('"gen":0', '"gen":null', "gen"),
        ('"gen":0', '"gen":2147483648', "gen"),
        ('"gen":0', '"gen":1e3', "gen"),
        ('"gen":0', '"gen":NaN', "$"),
        ('"endOffset":-1', '"endOffset":9223372036854775808', "endOffset"),
        ('"endOffset":-1', '"endOffset":-9223372036854775809', "endOffset"),
        ('"endOffset":-1', '"endOffset":' + "9" * 5_000, "$"),
        ('"gen":0,', "", "gen"),
        ('"gen":0,', '"gen":0,"state":1,', "state"),
        ('"gen":0,', '"gen":0,"gen":1,', "$"),
        ('"bname":"b1"', '"bname":1', "bname"),
        ('"bname":"b1"', '"bname":"\\ud800"', "bname"),
        (GOOD, "[]", "hostedQueues"),
        ('{"0":[', '{"00":[', "hostedQueues"),
        ('{"0":[', '{"x":[', "hostedQueues"),
        ('{"0":[', '{"4294967296":[', "hostedQueues"),
        (GOOD, "[" * 30 + "]" * 30, "$"),
        (GOOD, "[" * 100_000, "$"),
        ('"epoch":1', '"epoch":1.5', "epoch"),
        ('"dirty":false', '"dirty":0', "dirty"),
    ],
)
def test_an_unknown_missing_or_inexact_member_is_refused_with_its_place(old, new, place):
    text = (
        '{"bname":"b1","currIdMap":{},"dirty":false,"epoch":1,"hostedQueues":{"0":['
        + GOOD
        + ']},"scope":"__global__","topic":"T","totalQueues":1}'
    )
    assert decode_mapping(text).hosted[0] == (segment(0, "b1:q0"),)
    assert old in text

    with pytest.raises(InvalidQueueMapping) as refusal:
        decode_mapping(text.replace(old, new, 1))

    assert place in str(refusal.value)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    for decode in (decode_mapping, decode_info, decode_plan_file):
        with pytest.raises(InvalidQueueMapping):
            decode(text)


def test_tools_of_stock_accept_a_contiguous_list_without_its_ends_l60():
    """Stock refuses an end that equals the next start; the ends stay in our file."""
    info = MappingInfo("T", "b2", 1, 1)
    parts = (segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", 101))

    shown = without_ends(BrokerMapping(info, {0: parts})).hosted[0]

    assert list(check_segments(0, parts, allows_touching=False)) != []
    assert list(check_segments(0, shown, allows_touching=False)) == []
    assert [one.logical_start for one in shown] == [0, 101]
    gapped = (parts[0], replace(parts[1], logical_start=10_000))
    assert without_ends(BrokerMapping(info, {0: gapped})).hosted[0] == gapped
