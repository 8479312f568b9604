"""Messages of a living agent: found each way, read page by page, judged for each group."""

import json
import time
import zlib
from datetime import UTC, datetime

import pytest

from backend.domain.user import Role
from backend.remoting.request_code import RequestCode
from tests.integration.api.agents.conftest import CLUSTER, GROUP, until

TOPIC = f"/clusters/{CLUSTER}/topics/orders/messages"
MESSAGES = f"/clusters/{CLUSTER}/messages"
LIST = """query ($first: Int!, $after: String, $within: MessageRange) {
  messages(clusterName: "c", topicName: "orders", first: $first, after: $after, within: $within) {
    nodes { messageId queueId queueOffset storedAt }
    pageInfo { hasNextPage endCursor } unknown { brokerGroupName why }
  }
}"""
FOUND = """query ($key: String!, $isUnique: Boolean!) {
  foundMessages(clusterName: "c", topicName: "orders", key: $key, isUnique: $isUnique) {
    nodes { messageId keys } isComplete unknown { brokerGroupName }
  }
}"""
ONE = """query ($id: String!, $topic: String) {
  message(clusterName: "c", messageId: $id, topicName: $topic) {
    message { messageId uniqueKey topic queueId queueOffset keys tags properties { name value } }
    deliveries { nodes { consumerGroupName state why attemptCount } consumerGroupCount }
  }
}"""
BODY = """query ($id: String!, $form: BodyForm!, $max: Int!) {
  messageBody(clusterName: "c", messageId: $id, form: $form, maxBytes: $max) {
    form content isCut sizeBytes shownBytes
  }
}"""


@pytest.fixture
def sent(broker):
    async def send(body=b"x", *, queue_id=0, unique=None, **properties):
        given = {name.upper(): value for name, value in properties.items()}
        given |= {} if unique is None else {"UNIQ_KEY": unique}
        answer = await broker.client.send("orders", body, queue_id=queue_id, properties=given)
        assert answer.code == 0, answer.remark
        return answer.ext["msgId"]

    return send


async def test_a_message_is_found_by_id_by_key_by_offset_and_by_time(get, ask, sent):
    before = datetime.now(UTC)
    message_id = await sent(b"{}", queue_id=2, unique="U-1", keys="k1 k2", tags="red")
    after = datetime.now(UTC)

    async def is_indexed():
        return (await get(f"{TOPIC}/found", key="k2"))["items"]

    await until(is_indexed, "the key is not indexed")
    by_id = await get(f"{MESSAGES}/{message_id}")
    by_sender = await get(f"{MESSAGES}/U-1", topic_name="orders")
    by_key = await get(f"{TOPIC}/found", key="k1")
    by_unique = await get(f"{TOPIC}/found", key="U-1", is_unique="true")
    by_offset = await get(TOPIC, broker_group_name=GROUP, queue_id=2, offset=0)
    # Brokers keep milliseconds.
    by_time = await get(TOPIC, begin=floor(before).isoformat(), queue_id=2)
    too_late = await get(TOPIC, begin=after.replace(year=after.year + 1).isoformat())
    too_early = await get(TOPIC, end="1971-01-01T00:00:00Z")
    graph = (await ask(ONE, id=message_id))["message"]["message"]
    by_graph = (await ask(FOUND, key="k1", isUnique=False))["foundMessages"]

    pages = (by_key, by_unique, by_offset, by_time)
    assert [[one["message_id"] for one in page["items"]] for page in pages] == [[message_id]] * 4
    assert by_sender["message_id"] == by_id["message_id"] == message_id
    assert too_late["items"] == too_early["items"] == []
    assert by_key["is_complete"]
    assert (by_id["unique_key"], by_id["keys"], by_id["tags"]) == ("U-1", ["k1", "k2"], "red")
    place = [by_id[name] for name in ("broker_group_name", "topic", "queue_id", "queue_offset")]
    assert place == [GROUP, "orders", 2, 0]
    assert floor(before) <= datetime.fromisoformat(by_id["stored_at"]) <= after
    assert graph["keys"] == by_id["keys"]
    assert {one["name"]: one["value"] for one in graph["properties"]} == by_id["properties"]
    assert by_graph == {
        "nodes": [{"messageId": message_id, "keys": ["k1", "k2"]}],
        "isComplete": True,
        "unknown": [],
    }
    assert "body" not in by_id


def floor(moment):
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


async def test_a_topic_is_read_in_order_without_gap_or_repetition_and_followed(get, ask, sent):
    ids = [await sent(queue_id=number % 4) for number in range(40)]

    page = await get(TOPIC, limit=7)
    found, pages = page["items"], 1
    while page["has_more"]:
        page = await get(TOPIC, limit=7, after=page["next"])
        found, pages = found + page["items"], pages + 1
    after = page["next"]
    graph = (await ask(LIST, first=7))["messages"]
    # The cursor of one door goes on at the other, to what is stored later.
    nothing = (await ask(LIST, first=7, after=after))["messages"]
    late = await sent(queue_id=3)
    more = await get(TOPIC, limit=7, after=after)
    latest = await get(TOPIC, from_latest="true")
    newest = await sent(queue_id=1)
    followed = await get(TOPIC, after=latest["next"])

    # The fixture has sent one before.
    assert {one["message_id"] for one in found} >= set(ids)
    assert len(found) == len({one["message_id"] for one in found}) == 41
    # As texts, a full second sorts after its milliseconds.
    times = [datetime.fromisoformat(one["stored_at"]) for one in found]
    assert times == sorted(times)
    assert pages >= 41 / 7
    assert [one["messageId"] for one in graph["nodes"]] == [one["message_id"] for one in found[:7]]
    assert graph["pageInfo"]["hasNextPage"]
    assert (nothing["nodes"], nothing["pageInfo"]["hasNextPage"]) == ([], False)
    assert [one["message_id"] for one in more["items"]] == [late]
    assert latest["items"] == []
    assert [one["message_id"] for one in followed["items"]] == [newest]


async def test_bodies_are_shown_as_what_they_are_and_no_more_than_asked_for(broker, get, ask, sent):
    as_json = await sent(json.dumps({"amount": 3, "who": "Ä"}).encode())
    as_text = await sent("Grüße".encode() * 10)
    as_bytes = await sent(bytes(range(256)))
    packed = zlib.compress(b"packed " * 100)
    answer = await broker.client.send("orders", packed, f=1)
    as_packed = answer.ext["msgId"]

    shown = {
        name: await get(f"{MESSAGES}/{message_id}/body")
        for name, message_id in {
            "json": as_json,
            "text": as_text,
            "hex": as_bytes,
            "packed": as_packed,
        }.items()
    }
    cut = await get(f"{MESSAGES}/{as_text}/body", max_bytes=3)
    no_json = await get(f"{MESSAGES}/{as_bytes}/body", form="json")
    graph = (await ask(BODY, id=as_json, form="HEX", max=4))["messageBody"]

    assert {name: shown[name]["form"] for name in ("json", "text", "hex")} == {
        name: name for name in ("json", "text", "hex")
    }
    assert json.loads(shown["json"]["content"]) == {"amount": 3, "who": "Ä"}
    assert shown["text"]["content"] == "Grüße" * 10
    assert shown["hex"]["content"].startswith("0001 0203")
    assert shown["packed"]["content"] == "packed " * 100
    assert shown["packed"]["compression"] == "zlib"
    assert shown["packed"]["size_bytes"] == 700
    # The third byte begins a character that is not whole.
    assert (cut["content"], cut["is_cut"], cut["shown_bytes"]) == ("Gr", True, 3)
    assert (no_json["form"], no_json["note"]) == ("hex", "it can't be displayed as json")
    assert (graph["content"], graph["isCut"]) == ("7b22 616d", True)


async def test_a_body_takes_a_permission_that_viewers_do_not_have(
    broker, bare_client, credentials, sent
):
    message_id = await sent(b"salary")
    viewer = await credentials("session", Role.VIEWER)
    operator = await credentials("session", Role.OPERATOR)
    path = f"/api/v1{MESSAGES}/{message_id}"
    query = {"query": BODY, "variables": {"id": message_id, "form": "TEXT", "max": 99}}

    refused = await bare_client.get(f"{path}/body", headers=viewer)
    in_graph = (await bare_client.post("/graphql", json=query, headers=viewer)).json()
    around = await bare_client.get(path, headers=viewer)
    shown = await bare_client.get(f"{path}/body", headers=operator)

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert in_graph["errors"][0]["extensions"]["code"] == "forbidden"
    assert around.status_code == 200
    assert "salary" not in refused.text + json.dumps(in_graph) + around.text
    assert shown.json()["content"] == "salary"
    assert broker is not None


async def test_a_message_shows_how_far_each_group_has_read(broker, get, ask, sent):
    message_id = await sent(b"one", queue_id=1, unique="U-7")
    for name in ("done", "waiting", "failing", "dead"):
        await broker.member(name, "orders", f"%RETRY%{name}", group=name)
        await broker.commit(0 if name == "waiting" else 1, queue_id=1, group=name)
        await broker.commit(0, topic=f"%RETRY%{name}", group=name)
    position = (await get(f"{MESSAGES}/{message_id}"))["log_position"]
    for name, level in (("failing", 5), ("dead", -1)):
        fields = {"group": name, "offset": position, "delayLevel": level, "originTopic": "orders"}
        back = await broker.client.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)
        assert back.code == 0, back.remark

    async def states():
        found = await get(f"{MESSAGES}/{message_id}")
        return {one["consumer_group_name"]: one["state"] for one in found["deliveries"]}

    wanted = {
        "done": "consumed",
        "waiting": "pending",
        "failing": "retrying",
        "dead": "dead_letter",
    }

    async def are_known():
        return await states() == wanted

    await until(are_known, wanted)
    graph = (await ask(ONE, id=message_id))["message"]["deliveries"]

    assert {one["consumerGroupName"]: one["state"].lower() for one in graph["nodes"]} == wanted
    assert graph["consumerGroupCount"] == 4


async def test_a_missing_message_is_an_error_with_the_next_step(broker, get, ask):
    unknown_id = "7F000001" + "0" * 24
    elsewhere = await get(f"{MESSAGES}/{unknown_id}", 404)
    senders = await get(f"{MESSAGES}/not-an-id", 404)
    in_topic = await get(f"{MESSAGES}/not-an-id", 404, topic_name="orders")
    offset = await get(TOPIC, 400, offset=3)
    queue = await get(TOPIC, 400, queue_id=77)
    cursor = await get(TOPIC, 400, after="nonsense")
    topic = await get(f"/clusters/{CLUSTER}/topics/none/messages", 404)
    key = await get(f"/clusters/{CLUSTER}/topics/none/messages/found", 404, key="k")

    assert elsewhere["code"] == senders["code"] == "message_not_found"
    assert "needs the topic" in senders["detail"]
    assert in_topic["code"] == "message_not_found"
    assert offset["code"] == "invalid_message_search"
    assert "name its broker group" in offset["detail"]
    assert queue["code"] == "invalid_message_search"
    assert cursor["code"] == "invalid_cursor"
    assert topic["code"] == key["code"] == "topic_not_found"
    assert (await ask(ONE, id=unknown_id))["message"] is None
    assert broker is not None


async def test_a_broker_that_is_away_is_named_and_the_others_are_read(get, register, sent):
    message_id = await sent(keys="k9")
    await register(CLUSTER, "dead", 0, topics=["orders"])
    began = time.monotonic()

    async def is_found():
        return (await get(f"{TOPIC}/found", key="k9"))["items"]

    await until(is_found, "the key is not indexed")
    found = await get(f"{TOPIC}/found", key="k9")
    page = await get(TOPIC)

    assert [one["message_id"] for one in found["items"]] == [message_id]
    assert not found["is_complete"]
    assert [one["broker_group_name"] for one in found["unknown"]] == ["dead"]
    assert message_id in {one["message_id"] for one in page["items"]}
    assert [one["broker_group_name"] for one in page["unknown"]] == ["dead"]
    assert time.monotonic() - began < 60


async def test_the_audit_says_who_read_which_body_and_holds_none(
    broker, client, get, bare_client, credentials, sent, ask
):
    message_id = await sent(b"salary", queue_id=1, unique="U-9")
    viewer = await credentials("session", Role.VIEWER)
    program = await credentials("token", Role.OPERATOR)
    path = f"/api/v1{MESSAGES}/{message_id}/body"
    twice = (
        "{ "
        + " ".join(
            f'{name}: messageBody(clusterName: "c", messageId: "{message_id}") {{ content }}'
            for name in ("first", "second")
        )
        + " }"
    )

    await bare_client.get(path, headers=viewer)
    await client.get(f"/api/v1{MESSAGES}/7F00000100002A9F00000000000F0000/body")
    await get(f"{MESSAGES}/{message_id}")
    await bare_client.get(path, headers=program)
    read = await ask(twice)
    entries = (await get("/audit"))["items"]

    assert [read[name]["content"] for name in ("first", "second")] == ["salary"] * 2
    assert [(one["actor"], one["source"].split()[0], one["cluster_name"]) for one in entries] == [
        ("admin", "graphql", "c"),
        ("admin", "graphql", "c"),
        (entries[2]["actor"], "rest", "c"),
    ]
    assert entries[2]["actor"].startswith("operator-")
    assert entries[2]["source"].endswith("token t")
    assert {(one["action"], one["subject"]) for one in entries} == {
        ("message.read_body", f"message {message_id}")
    }
    assert entries[0]["details"] == {
        "topic": "orders",
        "broker_group": GROUP,
        "queue_id": 1,
        "queue_offset": 0,
        "shown_bytes": 6,
        "is_cut": False,
    }
    assert "salary" not in json.dumps(entries)
    assert (await get("/audit/verification"))["broken_number"] is None
    assert broker is not None


async def test_a_body_that_can_not_be_entered_is_not_shown(broker, client, sent, monkeypatch):
    message_id = await sent(b"salary")

    async def fail(*_arguments, **_named):
        raise TimeoutError

    monkeypatch.setattr("backend.services.message.message_bodies.audit.append", fail)
    answer = await client.get(f"/api/v1{MESSAGES}/{message_id}/body")

    assert answer.status_code == 503
    assert "salary" not in answer.text
    assert broker is not None
