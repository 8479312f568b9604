"""The static topics of a broker group, and their file in stock's form."""

from pathlib import Path

import msgspec
import pytest

from backend.domain.logical_queue.broker_copy import BrokerTopic, PreparedQueue, SealRecord
from backend.domain.logical_queue.commit import Seal
from backend.domain.logical_queue.mapping import (
    BrokerMapping,
    MappingInfo,
    QueueCounts,
    RetiredQueue,
)
from backend.domain.logical_queue.segment import QueueSegment
from backend.remoting.java_json import InvalidJson
from workers.broker.logical.leading import closed_queues, leading_places, leading_segments
from workers.broker.tables.static_topics import StaticTopics, decode_static_topic_file

STOCK_FILE = Path(__file__).parents[1] / "domain" / "logical_queue" / "stock_file.json"
LEADING = (QueueSegment(0, "b1", 0, 0, 0, 7), QueueSegment(2, "b1", 3, 107, 2))
MOVED = (QueueSegment(0, "b1", 1, 0, 0, 9), QueueSegment(1, "b2", 0, 9))


def topic_of(name="T", **fields):
    info = MappingInfo(name, "b1", 5_000, 3, led={0: 3})
    return BrokerTopic(BrokerMapping(info, {0: LEADING, 1: MOVED}), **fields)


def whole():
    return topic_of(
        counts=QueueCounts(5, 5),
        prepared={2: PreparedQueue(6_000, 4, 0)},
        seals={0: SealRecord(6_000, 2, Seal(20, 1, 2))},
        fences={0: 6_000},
        retired={2: RetiredQueue("b1", 2, 0, 1, 30)},
    )


def table_of(*, reported=None):
    def listener(name, topic):
        if reported is not None:
            reported.append((name, topic))

    return StaticTopics(listener=listener, clock=lambda: 7)


def read(data, broker_name="b1"):
    return decode_static_topic_file(data, broker_name=broker_name)


def test_a_file_holds_the_whole_state_and_its_mappings_in_the_form_of_stock():
    table = table_of()
    table.put("T", whole())
    table.is_in_log = True
    table.log_position = 44

    file, left_out = read(table.as_file())

    assert (dict(file.topics), left_out) == ({"T": whole()}, [])
    assert (file.is_in_log, file.log_position, file.data_version.counter) == (True, 44, 1)
    document = msgspec.json.decode(table.as_file())
    segments = document["topicQueueMappingInfoMap"]["T"]["hostedQueues"]["0"]
    assert sorted(segments[0]) == [
        "bname",
        "endOffset",
        "gen",
        "logicOffset",
        "queueId",
        "startOffset",
        "timeOfEnd",
        "timeOfStart",
    ]


def test_a_file_of_stock_is_read_without_our_fields():
    """L10, L64."""
    data = STOCK_FILE.read_bytes()

    file, left_out = read(data, broker_name="b2")
    foreign, reported = read(data)

    version = file.data_version
    assert (version.state_version, version.timestamp_ms, version.counter) == (3, 1760000000123, 17)
    mapping = file.topics["T"].mapping
    assert (mapping.info.broker_group_name, left_out) == ("b2", [])
    assert (file.is_in_log, file.topics["T"].seals) == (False, {})
    assert (foreign.topics, "INV-2" in reported[0].reason) == ({}, True)
    table = StaticTopics(file, listener=lambda _name, _topic: None, clock=lambda: 7)
    assert read(table.as_file(), broker_name="b2")[0].topics["T"].mapping == mapping


def test_mappings_of_others_and_malformed_ones_are_left_out_and_stay_in_the_file():
    """L10."""
    table = table_of()
    table.put("T", topic_of())
    document = msgspec.json.decode(table.as_file())
    document["topicQueueMappingInfoMap"]["U"] = {"bname": "b1"}

    _, foreign = read(msgspec.json.encode(document), broker_name="b2")
    file, malformed = read(msgspec.json.encode(document))

    assert [(one.name, "INV-2" in one.reason) for one in foreign] == [("T", True), ("U", False)]
    assert (list(file.topics), [one.name for one in malformed]) == (["T"], ["U"])
    kept = StaticTopics(file, malformed, listener=lambda _name, _topic: None, clock=lambda: 7)
    assert read(kept.as_file())[1] == malformed
    with pytest.raises(InvalidJson):
        read(b"[]")


def test_a_change_is_reported_and_collected_once():
    reported = []
    table = table_of(reported=reported)
    table.lead()

    assert table.put("T", topic_of())
    assert not table.put("T", topic_of())
    assert table.take_changes() == {"T": topic_of()}
    assert not table.has_changes
    assert table.remove("T")
    assert not table.remove("T")

    assert table.take_changes() == {"T": None}
    assert reported == [("T", topic_of()), ("T", None)]


def test_the_engine_serves_the_last_segment_and_seals_all_other_queues():
    """9.5: also a queue whose segment another broker group continues, and a retired one."""
    open_topic, sealed = topic_of(retired=whole().retired), whole()

    assert leading_segments(open_topic) == {0: (3, 2, 107, True)}
    assert leading_segments(sealed) == {0: (3, 2, 107, False)}
    assert leading_places(open_topic) == leading_places(sealed)
    assert closed_queues(open_topic) == {0, 1, 2}
    assert closed_queues(sealed) == {0, 1, 2, 3}
