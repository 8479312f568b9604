import time

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.waiting import eventually


async def test_a_heartbeat_makes_the_group_and_its_retry_topic(client, broker):
    answer = await client.heartbeat("g", "T")

    assert answer.code == 0
    assert answer.ext == {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}
    assert broker.broker.topics.find("%RETRY%g").write_queue_count == 1
    assert broker.broker.groups.find("g") is not None


async def test_members_of_a_group_see_each_other_and_hear_of_changes(broker, connect):
    first, second = await connect(broker), await connect(broker)
    await first.heartbeat("g", "T", client_id="c1")
    await first.heartbeat("g", "T", client_id="c1")
    before = len(first.notices)

    await second.heartbeat("g", "T", client_id="c2")

    members = await first.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "g"})
    assert java_json.loads(members.body) == {"consumerIdList": ["c1", "c2"]}
    await noticed(first, before + 1)
    assert first.notices[-1].code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
    assert first.notices[-1].ext == {"consumerGroup": "g"}
    assert first.notices[-1].is_oneway


async def test_a_member_that_closes_or_unregisters_is_missed_at_once(broker, connect):
    stays, leaves, drops = [await connect(broker) for _ in range(3)]
    for number, member in enumerate((stays, leaves, drops)):
        await member.heartbeat("g", "T", client_id=f"c{number}")

    await leaves.call(
        RequestCode.UNREGISTER_CLIENT,
        {"clientID": "c1", "consumerGroup": "g", "producerGroup": "pg"},
    )
    await drops.close()

    async def is_alone():
        fields = {"consumerGroup": "g"}
        answer = await stays.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, fields)
        return java_json.loads(answer.body)["consumerIdList"] == ["c0"]

    await eventually(is_alone)


async def test_a_client_with_a_second_connection_is_one_member(broker, connect):
    # Queues are dealt out by the list: a second share of one client has no reader.
    former, newer, other = [await connect(broker) for _ in range(3)]
    for member, client_id in ((former, "c1"), (other, "c2"), (newer, "c1")):
        await member.heartbeat("g", "T", client_id=client_id)

    async def members():
        answer = await other.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "g"})
        return sorted(java_json.loads(answer.body)["consumerIdList"])

    assert await members() == ["c1", "c2"]
    await former.close()
    await eventually(lambda: len(broker.sessions.all) == 2)

    assert await members() == ["c1", "c2"]


async def test_a_group_without_members_is_an_error_not_an_empty_list(client):
    answer = await client.call(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "none"})

    assert answer.code == 1


async def test_a_changed_subscription_notifies_the_group(client):
    await client.heartbeat("g", "T")
    before = len(client.notices)

    await client.heartbeat("g", "T", "U")

    await noticed(client, before + 1)


async def test_a_light_heartbeat_keeps_the_subscriptions(client):
    full = await client.heartbeat("g", "T", heartbeatFingerprint=5)
    light = await client.heartbeat("g", heartbeatFingerprint=5, withoutSub=True)
    changed = await client.heartbeat("g", heartbeatFingerprint=6, withoutSub=True)

    shown = await client.call(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "g"})
    assert [one.ext["IS_SUB_CHANGE"] for one in (full, light, changed)] == ["true", "false", "true"]
    assert list(java_json.loads(shown.body)["subscriptionTable"]) == ["T"]


async def test_tools_see_consumers_and_producers(client):
    await client.heartbeat("g", "T", client_id="me")

    consumers = await client.call(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "g"})
    producers = await client.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": "pg"})
    offline = await client.call(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "x"})
    unknown = await client.call(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": "x"})

    shown = java_json.loads(consumers.body)
    assert shown["connectionSet"][0]["clientId"] == "me"
    assert (shown["consumeType"], shown["messageModel"]) == ("CONSUME_PASSIVELY", "CLUSTERING")
    assert java_json.loads(producers.body)["connectionSet"][0]["language"] == "JAVA"
    assert (offline.code, unknown.code) == (206, 1)


async def test_a_locked_queue_is_given_to_one_client_only(client):
    first = await client.call(RequestCode.LOCK_BATCH_MQ, body=lock_body("c1"))
    second = await client.call(RequestCode.LOCK_BATCH_MQ, body=lock_body("c2"))
    await client.call(RequestCode.UNLOCK_BATCH_MQ, body=lock_body("c1"))
    third = await client.call(RequestCode.LOCK_BATCH_MQ, body=lock_body("c2"))

    held = [len(java_json.loads(one.body)["lockOKMQSet"]) for one in (first, second, third)]
    assert held == [2, 0, 2]


async def test_offsets_are_committed_queried_and_searched(client):
    for _ in range(3):
        await client.send("T", b"x")
    await client.heartbeat("g", "T")
    queue = {"topic": "T", "queueId": 0}
    mine = queue | {"consumerGroup": "g"}

    strict = await client.call(
        RequestCode.QUERY_CONSUMER_OFFSET, mine | {"setZeroIfNotFound": "false"}
    )
    young = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, mine)
    committed = await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, mine | {"commitOffset": 2})
    known = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, mine)
    high = await client.call(RequestCode.GET_MAX_OFFSET, queue)
    low = await client.call(RequestCode.GET_MIN_OFFSET, queue)
    early = await client.call(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, queue | {"timestamp": 0})
    late = await client.call(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, queue | {"timestamp": 2**62})
    first_at = await client.call(RequestCode.GET_EARLIEST_MSG_STORETIME, queue)

    assert (strict.code, young.ext["offset"], committed.code) == (22, "0", 0)
    assert [one.ext["offset"] for one in (known, high, low, early, late)] == [
        "2",
        "3",
        "0",
        "0",
        "3",
    ]
    assert int(first_at.ext["timestamp"]) > 1_600_000_000_000


async def test_unknown_queues_have_ends_at_zero(client):
    queue = {"topic": "Nowhere", "queueId": 3}

    high = await client.call(RequestCode.GET_MAX_OFFSET, queue)
    low = await client.call(RequestCode.GET_MIN_OFFSET, queue)
    at = await client.call(RequestCode.GET_EARLIEST_MSG_STORETIME, queue)

    assert (high.ext["offset"], low.ext["offset"], at.ext["timestamp"]) == ("0", "0", "-1")


def lock_body(client_id):
    queues = [{"topic": "T", "brokerName": "broker-t", "queueId": number} for number in (0, 1)]
    return java_json.encode({"clientId": client_id, "consumerGroup": "g", "mqSet": queues})


async def noticed(client, count):
    await eventually(lambda: len(client.notices) >= count)


async def test_tools_receive_all_producers_at_once(client):
    none = await client.call(RequestCode.GET_ALL_PRODUCER_INFO)
    await client.heartbeat("g", "T", client_id="c1")

    told = await client.call(RequestCode.GET_ALL_PRODUCER_INFO)

    # Stock says so as well when there is none.
    assert none.code == 1
    (producer,) = java_json.loads(told.body)["data"]["pg"]
    host, port = client.writer.get_extra_info("sockname")
    assert (producer["clientId"], producer["remoteIP"]) == ("c1", f"{host}:{port}")
    assert abs(producer["lastUpdateTimestamp"] - time.time() * 1000) < 60_000


async def test_the_control_plane_receives_all_clients_with_their_groups(broker, connect):
    both, reader = await connect(broker), await connect(broker)
    await both.heartbeat("g1", "T", client_id="both")
    await both.heartbeat("g2", "T", client_id="both")
    await reader.heartbeat("g1", "T", client_id="reader", producerDataSet=[])

    told = java_json.loads((await both.call(RequestCode.GET_CLIENTS)).body)

    clients = {one["clientId"]: one for one in told["clients"]}
    assert (told["totalCount"], clients.keys()) == (2, {"both", "reader"})
    assert clients["both"]["consumerGroups"] == ["g1", "g2"]
    assert clients["both"]["producerGroups"] == ["pg"]
    assert (clients["reader"]["consumerGroups"], clients["reader"]["producerGroups"]) == (
        ["g1"],
        [],
    )
    assert 0 <= clients["reader"]["heardMs"] < 60_000


async def test_what_a_client_sends_last_decides_what_its_pulls_pass(client):
    # Case A10.
    for tag in ("A", "B"):
        await client.send("T", tag.encode(), properties={"TAGS": tag})
    now_ms = time.time_ns() // 1_000_000
    await client.heartbeat("g", "T", sub={"expression": "A", "version": now_ms})
    asks = {"sysFlag": 0, "subscription": None}
    # Answered by a check, and then by the engine alone.
    for _ in range(2):
        first = await client.pull("T", subVersion=now_ms, **asks)
        assert bodies(first) == [b"A"]

    earlier_ms = now_ms - 3_600_000
    await client.heartbeat("g", "T", sub={"expression": "B", "version": earlier_ms})

    for _ in range(2):
        second = await client.pull("T", subVersion=earlier_ms, **asks)
        assert bodies(second) == [b"B"]
    shown = await client.call(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "g"})
    told = java_json.loads(shown.body)["subscriptionTable"]["T"]
    assert (told["subString"], told["subVersion"]) == ("B", earlier_ms)


async def test_two_members_that_want_different_tags_get_each_what_it_wants(broker, connect):
    # Case A10, a similar input.
    one, other = await connect(broker), await connect(broker)
    for tag in ("A", "B"):
        await one.send("T", tag.encode(), properties={"TAGS": tag})
    await one.heartbeat("g", "T", client_id="c1", sub={"expression": "A", "version": 5})
    await other.heartbeat("g", "T", client_id="c2", sub={"expression": "B", "version": 5})

    for _ in range(2):
        for client, tag in ((one, b"A"), (other, b"B")):
            pulled = await client.pull("T", sysFlag=0, subscription=None, subVersion=5)
            assert bodies(pulled) == [tag]
