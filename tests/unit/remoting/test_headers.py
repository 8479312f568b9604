import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.remoting.headers import (
    SEND_MESSAGE_SHORT_KEYS,
    BrokerHeartbeatHeader,
    InvalidHeader,
    PullMessageHeader,
    QueueHeader,
    RegisterBrokerHeader,
    SendMessageHeader,
    decode_header,
    decode_send_header,
    encode_header,
)
from backend.remoting.request_code import RequestCode

PULL = {
    "consumerGroup": "g",
    "topic": "T",
    "queueId": "3",
    "queueOffset": "41",
    "maxMsgNums": "32",
    "sysFlag": "2",
    "commitOffset": "0",
    "suspendTimeoutMillis": "15000",
    "subVersion": "1758000000000",
}
SEND = {
    "producerGroup": "pg",
    "topic": "T",
    "defaultTopic": "TBW102",
    "defaultTopicQueueNums": "4",
    "queueId": "-1",
    "sysFlag": "0",
    "bornTimestamp": "1758000000000",
    "flag": "0",
    "batch": "true",
    "maxReconsumeTimes": "16",
}


def test_text_becomes_typed_fields():
    header = decode_header(PullMessageHeader, PULL)

    assert (header.queue_id, header.queue_offset) == (3, 41)
    assert header.subscription is None


@pytest.mark.parametrize("field", sorted(PULL))
def test_a_missing_field_is_named_as_it_is_spelled_on_the_wire(field):
    left = {name: value for name, value in PULL.items() if name != field}

    with pytest.raises(InvalidHeader) as caught:
        decode_header(PullMessageHeader, left)

    assert caught.value.field == field
    assert str(caught.value) == f"the required field {field} is missing"


@pytest.mark.parametrize(
    "value", ["x", "1.5", "1.0", "1e3", "2147483648", "-2147483649", "1 ", "0x1"]
)
def test_a_field_that_is_no_32_bit_number_is_named(value):
    with pytest.raises(InvalidHeader) as caught:
        decode_header(QueueHeader, {"topic": "T", "queueId": value})

    assert caught.value.field == "queueId"
    assert str(caught.value) == "the field queueId is malformed"


def test_an_empty_value_is_read_as_absent():
    optional = decode_header(PullMessageHeader, PULL | {"maxMsgBytes": "", "subscription": ""})

    assert (optional.size_max_bytes, optional.subscription) == (None, None)
    with pytest.raises(InvalidHeader, match="queueId is missing"):
        decode_header(PullMessageHeader, PULL | {"queueId": ""})


def test_unknown_fields_are_ignored():
    assert decode_header(QueueHeader, {"topic": "T", "queueId": "1", "bname": "b"}).queue_id == 1


def test_short_and_long_names_give_the_same_send_header():
    long_to_short = {long: short for short, long in SEND_MESSAGE_SHORT_KEYS.items()}
    short = {long_to_short[name]: value for name, value in SEND.items()}

    expected = decode_send_header(RequestCode.SEND_MESSAGE, SEND)
    actual = decode_send_header(RequestCode.SEND_MESSAGE_V2, short)

    assert actual == expected == decode_header(SendMessageHeader, SEND)
    assert (actual.batch, actual.queue_id, actual.max_reconsume_times) == (True, -1, 16)


def test_fields_without_a_value_are_not_written():
    header = BrokerHeartbeatHeader(
        cluster_name="c", broker_address="a:1", broker_name="b", broker_id=0
    )

    assert encode_header(header) == {
        "clusterName": "c",
        "brokerAddr": "a:1",
        "brokerName": "b",
        "brokerId": "0",
    }


@given(
    broker_id=st.integers(-(2**63), 2**63 - 1),
    compressed=st.booleans(),
    crc=st.integers(0, 2**31 - 1),
    name=st.text(min_size=1),
)
def test_what_is_written_is_read_back(broker_id, compressed, crc, name):
    header = RegisterBrokerHeader(
        broker_name=name,
        broker_address="10.0.0.1:10911",
        cluster_name=name,
        ha_address="10.0.0.1:10912",
        broker_id=broker_id,
        compressed=compressed,
        body_crc32=crc,
    )

    assert decode_header(RegisterBrokerHeader, encode_header(header)) == header
