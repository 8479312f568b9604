"""What no peer should send gets its documented error, and nothing is written."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.system.cluster import Cluster, wait_until
from tests.system.console import administrator, stranger, topic_names
from tests.system.peer import broker_sample, peer, send_header

pytestmark = pytest.mark.system

SYSTEM_ERROR, NOT_SUPPORTED, NO_TOPIC, INVALID_PARAMETER = 1, 3, 17, 29
SEND, PULL, QUERY_OFFSET, UPDATE_OFFSET, HEARTBEAT = 10, 11, 14, 15, 34
REGISTER_BROKER, GET_ROUTE, SEND_V2, SEND_BATCH = 103, 105, 310, 320
UNKNOWN_REQUEST = 31_999
FRAME_SIZE_MAX = 16 << 20
CLOSE_S_MAX = 5.0
MEMORY_GROWTH_MAX = 48 << 20

BAD_TOPICS = {
    "a slash": "a/b",
    "two dots": "..",
    "a way out": "../../../../tmp/out",
    "a NUL": "a\0b",
    "256 bytes": "t" * 256,
    "256 bytes of retry topic": "%RETRY%" + "t" * 249,
}
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
Facts = dict[str, Any]


@pytest.fixture(scope="module")
def signed_in(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


@pytest.fixture
def nothing_is_written(cluster: Cluster, signed_in: httpx.Client) -> Iterator[None]:
    """Compare logs, topics, groups, folders and the control plane's tables around a test."""
    before = settled(lambda: written(cluster, signed_in))
    yield
    assert settled(lambda: written(cluster, signed_in)) == before


def written(cluster: Cluster, client: httpx.Client) -> Facts:
    facts: Facts = {"topics of the control plane": topic_names(client)}
    for name in ("brokers", "broker-groups"):
        page = client.get(f"/api/v1/clusters/DefaultCluster/{name}").json()
        facts[name] = [
            {k: v for k, v in item.items() if "heartbeat" not in k} for item in page["items"]
        ]
    facts["clusters"] = [item["name"] for item in client.get("/api/v1/clusters").json()["items"]]
    for broker in cluster.brokers:
        sample = broker_sample(broker.address)
        facts[f"log of {broker.name}"] = sample["commitLogMaxPosition"]
        facts[f"topics of {broker.name}"] = sorted(topic["name"] for topic in sample["topics"])
        facts[f"groups of {broker.name}"] = groups(broker.store_path)
        facts[f"folders of {broker.name}"] = folders(broker.store_path)
    return facts


def groups(store: Path) -> list[str]:
    file = store / "config" / "subscriptionGroup.json"
    return sorted(json.loads(file.read_text())["subscriptionGroupTable"]) if file.exists() else []


def folders(store: Path) -> list[str]:
    return sorted(str(path.relative_to(store)) for path in store.rglob("*") if path.is_dir())


def settled(observe: Callable[[], Facts]) -> Facts:
    """Observe until two looks agree, since what earlier tests began may still be on its way."""
    seen = [observe()]

    def is_settled() -> bool:
        seen.append(observe())
        return seen[-1] == seen[-2]

    wait_until(is_settled, timeout_s=20, what=lambda: "a quiet cluster", interval_s=0.1)
    return seen[-1]


def addresses(cluster: Cluster) -> list[str]:
    return [cluster.name_server_address, cluster.brokers[0].address]


@pytest.mark.usefixtures("nothing_is_written")
def test_an_unknown_request_is_told_so(cluster: Cluster):
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
def test_a_send_without_a_required_field_is_told_which(key: str, field: str, cluster: Cluster):
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
def test_a_request_without_a_required_field_is_told_which(
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
                "groupName": name,
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


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize("topic", BAD_TOPICS.values(), ids=BAD_TOPICS)
def test_a_name_server_takes_no_topic_whose_name_breaks_the_rules(topic: str, cluster: Cluster):
    header = {
        "brokerName": "broker-a",
        "brokerAddr": "127.0.0.1:1",
        "clusterName": "DefaultCluster",
        "haServerAddr": "127.0.0.1:2",
        "brokerId": "0",
        "bodyCrc32": "0",
    }
    settings = {"topicName": topic, "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
    table = {topic: settings, topic + "x": {**settings, "topicName": topic + "x"}}
    version = {"counter": 1, "timestamp": 1, "stateVersion": 0}
    wrapper = {"topicConfigTable": table, "dataVersion": version}
    body = {"topicConfigSerializeWrapper": wrapper, "filterServerList": []}

    with peer(cluster.name_server_address) as asker:
        answer = asker.ask(REGISTER_BROKER, header, json.dumps(body).encode())
        route = asker.ask(GET_ROUTE, {"topic": topic})

    assert answer.code != 0
    assert route.code == NO_TOPIC


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/session"),
        ("DELETE", "/api/v1/session"),
        ("GET", "/api/v1/clusters"),
        ("GET", "/api/v1/clusters/DefaultCluster"),
        ("GET", "/api/v1/clusters/DefaultCluster/topics/TBW102"),
        ("GET", "/api/v1/capacity/reports"),
        ("POST", "/api/v1/capacity/reports"),
        ("GET", "/api/v1/no-such-place"),
        ("POST", "/graphql"),
    ],
)
def test_a_stranger_is_refused_over_http(method: str, path: str, cluster: Cluster):
    with stranger(cluster) as client:
        body = {"query": "{ viewer { name } }"} if path == "/graphql" else None
        answers = [
            client.request(method, path, json=body),
            client.request(method, path, json=body, headers={"Authorization": "Bearer nonsense"}),
            client.request(method, path, json=body, headers={"Cookie": "regent_session=nonsense"}),
        ]

    assert [answer.status_code for answer in answers] == [401] * 3
    for answer in answers:
        content = answer.json()
        code = (
            content["errors"][0]["extensions"]["code"]
            if path == "/graphql"
            else content["error"]["code"]
        )
        assert code == "unauthenticated"


def test_a_stranger_gets_no_subscription(cluster: Cluster):
    address = cluster.http_url.replace("http://", "ws://") + "/graphql"

    with pytest.raises(InvalidStatus) as refusal, connect(address):
        pass

    assert refusal.value.response.status_code == 401


@pytest.mark.parametrize("topic", [*BAD_TOPICS.values(), "ü" * 400], ids=[*BAD_TOPICS, "umlauts"])
def test_a_bad_topic_name_in_a_path_is_a_clean_error(topic: str, signed_in: httpx.Client):
    quoted = "".join(f"%{byte:02X}" for byte in topic.encode())

    answer = signed_in.get(f"/api/v1/clusters/DefaultCluster/topics/{quoted}")

    assert answer.status_code in (400, 404, 422)
    assert answer.json()["error"]["code"] in ("topic_not_found", "not_found", "invalid_name")


BROKEN_FRAMES = {
    "noise": bytes(range(255, 0, -1)) * 40,
    "an http request": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a length of two gigabytes": b"\x7f\xff\xff\xff" + b"\0" * 64,
    "a negative length": b"\xff\xff\xff\xf0" + b"\0" * 64,
    "a length above the limit": (FRAME_SIZE_MAX + 1).to_bytes(4, "big") + b"\0" * 64,
    "a length too small": b"\0\0\0\x03" + b"\0" * 64,
    "a header longer than its frame": b"\0\0\0\x10\0\0\xff\xff" + b"\0" * 64,
    "an unknown encoding": b"\0\0\0\x10\x07\0\0\x04" + b"\0" * 64,
    "a header that is no JSON": b"\0\0\0\x0c\0\0\0\x08{nothing" + b"\0" * 64,
    "a binary header cut short": b"\0\0\0\x0c\x01\0\0\x08" + b"\0" * 64,
}


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize("data", BROKEN_FRAMES.values(), ids=BROKEN_FRAMES)
def test_broken_frames_close_the_connection_and_nothing_else(data: bytes, cluster: Cluster):
    closed, alive = [], []
    for address in addresses(cluster):
        with peer(address) as intact:
            with peer(address) as broken:
                broken.send_raw(data)
                closed.append(broken.is_closed_within(CLOSE_S_MAX))
            alive.append(intact.ask(UNKNOWN_REQUEST).code)

    assert closed == [True, True]
    assert alive == [NOT_SUPPORTED] * 2


@pytest.mark.usefixtures("nothing_is_written")
def test_frames_cut_off_by_the_end_of_their_connection_have_no_effect(cluster: Cluster):
    address = cluster.brokers[0].address
    frame = b"\0\0\x10\0\0\0\0\x40" + b"{" * 200

    for size in (1, 3, 4, 7, 8, 100):
        with peer(address) as cut:
            cut.send_raw(frame[:size])

    with peer(address) as asker:
        assert asker.ask(UNKNOWN_REQUEST).code == NOT_SUPPORTED


def test_frames_that_only_claim_to_be_large_cost_no_memory(cluster: Cluster):
    claim = (FRAME_SIZE_MAX - 4).to_bytes(4, "big") + b"\0\0\0\x40" + b"{" * 1_000
    servers = {
        cluster.brokers[0].address: cluster.brokers[0].pid,
        cluster.name_server_address: next(
            one["pid"] for one in cluster.state["processes"] if one["name"] == "control-plane"
        ),
    }

    grown = {}
    for address, pid in servers.items():
        process = psutil.Process(pid)
        before = process.memory_info().rss
        claimants = [peer(address) for _ in range(64)]
        for claimant in claimants:
            claimant.__enter__().send_raw(claim)
        with peer(address) as asker:
            # Once this is answered, the claims sent before it have most likely been read too.
            time.sleep(0.2)
            assert asker.ask(UNKNOWN_REQUEST).code == NOT_SUPPORTED
        grown[address] = process.memory_info().rss - before
        for claimant in claimants:
            claimant.__exit__(None, None, None)

    assert [address for address, size in grown.items() if size > MEMORY_GROWTH_MAX] == []
