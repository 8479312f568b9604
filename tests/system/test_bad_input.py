"""What no client should ask gets its documented error, and nothing is written."""

import json

import pytest

from tests.system.cluster import Cluster
from tests.system.peer import (
    BAD_TOPICS,
    NOT_SUPPORTED,
    UNKNOWN_REQUEST,
    addresses,
    peer,
    send_header,
)

pytestmark = pytest.mark.system

SYSTEM_ERROR, NO_TOPIC, INVALID_PARAMETER = 1, 17, 29
SEND, PULL, QUERY_OFFSET, UPDATE_OFFSET, HEARTBEAT = 10, 11, 14, 15, 34
REGISTER_BROKER, GET_ROUTE, SEND_V2, SEND_BATCH = 103, 105, 310, 320

SEND_FIELDS = {
    "a": "producerGroup",
    "b": "topic",
    "c": "defaultTopic",
    "d": "defaultTopicQueueNums",
    "e": "queueId",
    "f": "sysFlag",
    "g": "bornTimestamp",
    "h": "flag",
}


@pytest.mark.usefixtures("nothing_is_written")
def test_an_unknown_request_is_an_error(cluster: Cluster):
    answers = []
    for address in addresses(cluster):
        with peer(address) as asker:
            answers += [asker.ask(UNKNOWN_REQUEST, encoding=e) for e in ("json", "rocketmq")]

    assert [answer.code for answer in answers] == [NOT_SUPPORTED] * 4
    assert {answer.remark for answer in answers} == {
        f"request type {UNKNOWN_REQUEST} not supported"
    }


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize(("key", "field"), SEND_FIELDS.items(), ids=SEND_FIELDS.values())
def test_a_send_without_a_required_field_is_an_error_that_names_it(
    key: str, field: str, cluster: Cluster
):
    header = send_header("never-made", **{key: None})

    with peer(cluster.brokers[0].address) as asker:
        answers = [asker.ask(SEND_V2, header, b"x", encoding=e) for e in ("json", "rocketmq")]

    assert [answer.code for answer in answers] == [SYSTEM_ERROR] * 2
    assert {answer.remark for answer in answers} == {f"the required field {field} is missing"}


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize(
    ("server", "code", "field"),
    [
        ("broker", PULL, "queueOffset"),
        ("broker", QUERY_OFFSET, "topic"),
        ("broker", UPDATE_OFFSET, "consumerGroup"),
        ("name server", GET_ROUTE, "topic"),
        ("name server", REGISTER_BROKER, "brokerName"),
    ],
)
def test_a_request_without_a_required_field_is_an_error_that_names_it(
    server: str,
    code: int,
    field: str,
    cluster: Cluster,
):
    header = {
        "consumerGroup": "g",
        "topic": "never-made",
        "queueId": "0",
        "queueOffset": "0",
        "maxMsgNums": "1",
        "sysFlag": "0",
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subVersion": "0",
        "brokerName": "broker-x",
        "brokerAddr": "127.0.0.1:1",
        "clusterName": "DefaultCluster",
        "haServerAddr": "",
        "brokerId": "0",
    }
    del header[field]
    address = addresses(cluster)[0 if server == "name server" else 1]

    with peer(address) as asker:
        answer = asker.ask(code, header)

    assert answer.code == SYSTEM_ERROR
    assert field in (answer.remark or "")


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize("topic", BAD_TOPICS.values(), ids=BAD_TOPICS)
def test_no_topic_is_made_under_a_name_that_breaks_the_rules(topic: str, cluster: Cluster):
    long_names = {
        "producerGroup": "tests",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": "1",
        "flag": "0",
    }
    offset = {"consumerGroup": "g", "topic": topic, "queueId": "0", "commitOffset": "1"}

    with peer(cluster.brokers[0].address) as asker:
        sends = [
            asker.ask(SEND_V2, send_header(topic), b"x"),
            asker.ask(SEND_V2, send_header(topic), b"x", encoding="rocketmq"),
            asker.ask(SEND, long_names, b"x"),
            asker.ask(SEND_BATCH, send_header(topic, m="true"), packed_message()),
        ]
        commit = asker.ask(UPDATE_OFFSET, offset)
    with peer(cluster.name_server_address) as asker:
        route = asker.ask(GET_ROUTE, {"topic": topic})

    assert [answer.code for answer in sends] == [INVALID_PARAMETER] * len(sends)
    assert commit.code != 0
    assert route.code == NO_TOPIC


def packed_message() -> bytes:
    body, properties = b"x", b""
    fields = (0, 0, 0)  # magic, CRC, flag
    head = b"".join(field.to_bytes(4, "big") for field in fields)
    rest = len(body).to_bytes(4, "big") + body + len(properties).to_bytes(2, "big") + properties
    size = 4 + len(head) + len(rest)
    return size.to_bytes(4, "big") + head + rest


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize("name", BAD_TOPICS.values(), ids=BAD_TOPICS)
def test_no_group_is_made_under_a_name_that_breaks_the_rules(name: str, cluster: Cluster):
    heartbeat = {
        "clientID": "stranger",
        "producerDataSet": [],
        "consumerDataSet": [
            {
                "brokerGroupName": name,
                "consumeType": "CONSUME_PASSIVELY",
                "messageModel": "CLUSTERING",
                "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
                "subscriptionDataSet": [{"topic": name, "subString": "*", "subVersion": 1}],
                "unitMode": False,
            },
        ],
    }

    with peer(cluster.brokers[0].address) as asker:
        asker.ask(HEARTBEAT, body=json.dumps(heartbeat).encode())
        answer = asker.ask(UNKNOWN_REQUEST)

    assert answer.code == NOT_SUPPORTED
