import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.remoting import java_json
from backend.remoting.bodies import (
    BrokerData,
    DataVersion,
    MessageQueue,
    QueueData,
    RegisterBrokerBody,
    TopicConfig,
    TopicConfigTable,
    TopicList,
    TopicOffset,
    TopicRouteData,
    decode_register_broker_body,
    encode_register_broker_body,
    encode_topic_stats,
)
from backend.remoting.bodies import topics as topic_bodies
from backend.remoting.bodies.groups import LockBody, SubscriptionData
from backend.remoting.java_json import InvalidJson

TOPICS = st.builds(
    TopicConfig,
    name=st.from_regex(r"[A-Za-z0-9_%-]{1,40}", fullmatch=True),
    read_queue_count=st.integers(0, 1024),
    write_queue_count=st.integers(0, 1024),
    permissions=st.integers(0, 15),
    attributes=st.dictionaries(st.text(min_size=1), st.text()),
)


def test_a_route_is_spelled_like_the_stock_example():
    route = TopicRouteData(
        brokers=[
            BrokerData(
                addresses={0: "10.0.0.1:10911", 1: "10.0.0.2:10911"},
                broker_name="broker-a",
                cluster="DefaultCluster",
            )
        ],
        queues=[
            QueueData(
                broker_name="broker-a", permissions=6, read_queue_count=4, write_queue_count=4
            )
        ],
    )

    assert java_json.encode(route) == (
        b'{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911","1":"10.0.0.2:10911"},'
        b'"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}],'
        b'"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,'
        b'"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}'
    )


def test_topic_stats_are_spelled_like_the_stock_example():
    queue = MessageQueue(broker_name="broker-a", queue_id=1, topic="TopicTest")
    offset = TopicOffset(last_update_timestamp_ms=1758000000000, max_offset=7, min_offset=0)

    assert encode_topic_stats([(queue, offset)]) == (
        b'{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"TopicTest"}:'
        b'{"lastUpdateTimestamp":1758000000000,"maxOffset":7,"minOffset":0}},"topicPutTps":0.0}'
    )


def test_a_list_without_an_address_leaves_it_out():
    assert java_json.encode(TopicList(topic_list=["a"])) == b'{"topicList":["a"]}'


def test_the_older_registration_without_mappings_is_read():
    body = b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":3},"topicConfigTable":{}}}'

    read, _ = decode_register_broker_body(body, compressed=False, version=400)

    assert read.topic_table.data_version.counter == 3


@given(topics=st.lists(TOPICS, unique_by=lambda topic: topic.name), compressed=st.booleans())
def test_a_registration_is_read_as_it_was_written(topics, compressed):
    table = TopicConfigTable(
        data_version=DataVersion(counter=9, timestamp_ms=5),
        topics={topic.name: topic for topic in topics},
    )
    body = RegisterBrokerBody(filter_servers=["f"], topic_table=table)

    data = encode_register_broker_body(body, compressed=compressed)

    assert decode_register_broker_body(data, compressed=compressed, version=513) == (body, [])


def test_a_compressed_registration_of_an_old_broker_has_no_mappings():
    body = encode_register_broker_body(RegisterBrokerBody(), compressed=True)
    without = zlib.compress(zlib.decompress(body)[:-4])

    assert decode_register_broker_body(without, compressed=True, version=401) == (
        RegisterBrokerBody(),
        [],
    )
    assert decode_register_broker_body(without, compressed=True, version=513) == (
        RegisterBrokerBody(),
        [],
    )


def test_a_registration_that_inflates_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(topic_bodies, "INFLATED_SIZE_MAX", 1 << 20)
    bomb = zlib.compress(b"\0" * (4 << 20))

    with pytest.raises(InvalidJson, match="inflates beyond"):
        decode_register_broker_body(bomb, compressed=True, version=513)


@pytest.mark.parametrize(
    "sections",
    [
        b"",
        b"\x7f\xff\xff\xff",
        b"\xff\xff\xff\xff",
        b"\0\0\0\2{}\0\0\xff\xff",
        b"\0\0\0\2{}\0\0\0\1\0\0\0\3a b",
        b"\0\0\0\2{}\0\0\0\1\0\0\0\x11T x 4 6 SINGLE_TAG",
        b"\0\0\0\2{}",
    ],
)
def test_a_compressed_registration_that_lies_about_lengths_is_refused(sections):
    with pytest.raises(InvalidJson):
        decode_register_broker_body(zlib.compress(sections), compressed=True, version=513)


def test_what_does_not_inflate_is_refused():
    with pytest.raises(InvalidJson, match="does not inflate"):
        decode_register_broker_body(b"nonsense", compressed=True, version=513)


def test_a_topic_is_spelled_like_the_stock_example():
    topic = TopicConfig(name="TopicTest", read_queue_count=4, write_queue_count=4)

    assert json.loads(java_json.encode(topic)) == {
        "attributes": {},
        "order": False,
        "perm": 6,
        "readQueueNums": 4,
        "topicFilterType": "SINGLE_TAG",
        "topicName": "TopicTest",
        "topicSysFlag": 0,
        "writeQueueNums": 4,
    }


def test_a_lock_that_does_not_say_so_is_not_for_one_broker_only():  # S140
    body = java_json.decode(b'{"clientId":"c","consumerGroup":"g","mqSet":[]}', LockBody)

    assert not body.only_this_broker


@pytest.mark.parametrize(
    ("expression_type", "shown"), [("TAG", "A || B"), ("", "A || B"), ("SQL92", "SQL92: A || B")]
)
def test_a_subscription_is_shown_with_its_type_unless_it_names_tags(expression_type, shown):
    # Case C9.
    subscription = SubscriptionData(expression="A || B", expression_type=expression_type)

    assert subscription.shown == shown
