"""Messages sent through the doors: stored as they were given, refused alike, never sent twice."""

import base64
import hashlib
import json

import pytest

from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests.sending import StoreMessage
from backend.domain.user import Role
from backend.remoting.request_code import RequestCode
from tests.integration.api.agents.conftest import CLUSTER, GROUP, until
from tests.integration.broker.client import messages

SEND = "/api/v1/messages"
BODY = b"\x00\xffsalary\r\n"
ORDER = {"cluster_name": CLUSTER, "topic_name": "orders", "body": "salary"}
GRAPH = """mutation ($message: SendMessageInput!) {
  sendMessage(message: $message) {
    state messageId uniqueKey topicName brokerGroupName queueId queueOffset bodyBytes bodySha256
    doubt
  }
}"""


@pytest.fixture
def post(client):
    async def send(status=201, **order):
        answer = await client.post(SEND, json={**ORDER, **order})
        assert answer.status_code == status, answer.text
        return answer.json()

    return send


def in_graph(order):
    return {camel(name): graph_value(name, value) for name, value in order.items()}


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def graph_value(name, value):
    return value.upper() if name == "body_encoding" else value


async def test_a_message_is_stored_with_the_keys_tag_properties_and_body_it_was_given(
    broker, post, get
):
    sent = await post(
        body=base64.b64encode(BODY).decode(),
        body_encoding="base64",
        keys=["4711", "anna"],
        tag="created",
        properties=[{"name": "source", "value": "test = ü"}],
        broker_group_name=GROUP,
        queue_id=2,
    )
    pulled = await broker.client.pull("orders", queueId=2, queueOffset=sent["queue_offset"])
    [stored] = messages(pulled)
    found = await get(f"/clusters/{CLUSTER}/messages/{sent['message_id']}")

    assert stored.body == BODY
    given = {"KEYS": "4711 anna", "TAGS": "created", "source": "test = ü"}
    assert given.items() <= stored.properties.items()
    assert stored.properties["UNIQ_KEY"] == sent["unique_key"] == found["unique_key"]
    assert (found["keys"], found["tags"]) == (["4711", "anna"], "created")
    assert (sent["state"], sent["doubt"]) == ("stored", None)
    place = sent["broker_group_name"], sent["queue_id"], sent["queue_offset"]
    assert place == (GROUP, 2, 0)
    assert (sent["body_bytes"], sent["body_sha256"]) == (
        len(BODY),
        hashlib.sha256(BODY).hexdigest(),
    )


async def test_the_graph_sends_the_same_and_the_audit_keeps_no_body(broker, ask, get):
    sent = (await ask(GRAPH, message=in_graph({**ORDER, "keys": ["k"]})))["sendMessage"]
    found = await get(f"/clusters/{CLUSTER}/messages/{sent['messageId']}")
    entries = [one for one in (await get("/audit"))["items"] if one["cluster_name"] == CLUSTER]

    assert (found["topic"], found["keys"]) == ("orders", ["k"])
    assert [one["action"] for one in entries[:2]] == ["message.sent", "message.send"]
    assert {one["subject"] for one in entries[:2]} == {"topic orders"}
    assert entries[0]["details"]["message_id"] == sent["messageId"]
    for one in entries[:2]:
        assert one["details"]["body_bytes"] == 6
        assert one["details"]["body_sha256"] == hashlib.sha256(b"salary").hexdigest()
    assert "salary" not in json.dumps(entries)
    assert broker is not None


REFUSALS = {
    "topic_not_found": (404, {"topic_name": "nowhere"}),
    "cluster_not_found": (404, {"cluster_name": "west"}),
    "invalid_name": (400, {"topic_name": "TBW102"}),
    "no_queue_for_message": (409, {"queue_id": 99}),
    "invalid_parameters": (400, {"delay_level": 0}),
}
INVALID = {
    "body": {"body": "no base64", "body_encoding": "base64"},
    "body: it has": {"body": "x" * (513 << 10)},
    "keys": {"keys": ["two words"]},
    "tag": {"tag": "a || b"},
    "properties: UNIQ_KEY": {"properties": [{"name": "UNIQ_KEY", "value": "1"}]},
    "properties: KEYS belongs to brokers and clients: use keys": {
        "properties": [{"name": "KEYS", "value": "1"}]
    },
    "properties: 'a\\x01'": {"properties": [{"name": "a\x01", "value": "1"}]},
    "delay_level: 99 is too high: the broker has": {"delay_level": 99},
}


@pytest.mark.parametrize("code", REFUSALS)
async def test_a_message_is_refused_for_the_same_reason_by_both_doors(broker, post, ask, code):
    status, wrong = REFUSALS[code]

    told = await post(status, **wrong)
    graph = await ask(GRAPH, errors=True, message=in_graph({**ORDER, **wrong}))

    assert told["code"] == code
    assert graph["errors"][0]["extensions"]["reason"] == code
    assert graph["errors"][0]["message"] == told["detail"]
    assert broker is not None


@pytest.mark.parametrize("told", INVALID)
async def test_an_invalid_message_names_what_is_wrong_and_nothing_is_sent(
    broker, post, ask, get, told
):
    refused = await post(400, **INVALID[told])
    graph = await ask(GRAPH, errors=True, message=in_graph({**ORDER, **INVALID[told]}))
    page = await get(f"/clusters/{CLUSTER}/topics/orders/messages")

    assert refused["code"] == graph["errors"][0]["extensions"]["reason"] == "invalid_message"
    assert f"; {told}" in refused["detail"]
    assert graph["errors"][0]["message"] == refused["detail"]
    # The fixture has sent one before.
    assert len(page["items"]) == 1
    assert broker is not None


async def test_a_message_waits_for_its_delay_and_has_no_place_until_then(broker, post, get):
    sent = await post(delay_level=1, keys=["late"])

    async def is_delivered():
        path = f"/clusters/{CLUSTER}/topics/orders/messages/found"
        return (await get(path, key=sent["unique_key"], is_unique="true"))["items"]

    await until(is_delivered, "the delayed message did not come")
    assert (sent["state"], sent["queue_offset"]) == ("stored", None)
    assert broker is not None


async def test_what_a_broker_refuses_is_said_in_its_words(broker, post, get):
    # The control plane has not heard yet that the broker holds the topic no more.
    await broker.client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "orders"})
    refused = await post(409)
    entry = (await get("/audit"))["items"][0]
    elsewhere = await post(409, broker_group_name="broker-z")

    assert (refused["code"], refused["facts"]) == ("message_refused", {"stock_code": 17})
    assert "not stored it: topic[orders] not exist" in refused["detail"]
    assert (entry["action"], entry["details"]["code"]) == ("message.refused", 17)
    assert elsewhere["code"] == "no_queue_for_message"
    assert "broker-z holds no queue of it" in elsewhere["detail"]


async def test_without_an_answer_a_message_may_be_stored_and_is_not_sent_again(
    broker, post, ask, get, monkeypatch
):
    asked = []

    async def lose(request, _brokers, address):
        asked.append(request.message.unique_key)
        raise BrokerUnreachable(address, "no answer within 3 s")

    monkeypatch.setattr(StoreMessage, "put", lose)
    told = await post(502)
    graph = await ask(GRAPH, errors=True, message=in_graph(ORDER))
    entries = (await get("/audit"))["items"]

    assert told["code"] == graph["errors"][0]["extensions"]["reason"] == "send_unanswered"
    assert told["facts"] == {"topic_name": "orders", "unique_key": asked[0]}
    assert "it may be stored" in told["detail"]
    assert len(asked) == 2
    assert [one["action"] for one in entries[:4]] == ["message.unanswered", "message.send"] * 2
    assert broker is not None


async def test_only_who_may_change_a_cluster_sends(broker, bare_client, credentials):
    viewer = await credentials("session", Role.VIEWER)
    read_only = await credentials("read-only token", Role.OPERATOR)

    refused = [
        await bare_client.post(SEND, json=ORDER, headers=headers) for headers in (viewer, read_only)
    ]

    assert [one.status_code for one in refused] == [403, 403]
    assert "it takes the role operator" in refused[0].json()["detail"]
    assert broker is not None
