"""What stock's tools ask for beyond the ends of queues: 315, 316 and 317 (remoting.md 2.8)."""

import asyncio
import json

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, messages
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.broker.test_fenced_changes import effect, step
from tests.waiting import eventually

STATS = RequestCode.VIEW_BROKER_STATS_DATA
CONSUME_STATS = RequestCode.GET_BROKER_CONSUME_STATS
CLEAN = RequestCode.CLEAN_UNUSED_TOPIC
DELETE_TOPIC = RequestCode.DELETE_TOPIC_IN_BROKER
DELETE_GROUP = RequestCode.DELETE_SUBSCRIPTIONGROUP


async def stats(client, name, key):
    answer = await client.call(STATS, {"statsName": name, "statsKey": key})
    return json.loads(answer.body) if answer.code == 0 else (answer.code, answer.remark)


async def total(client, name, key):
    told = await stats(client, name, key)
    return told["statsDay"]["sum"] if isinstance(told, dict) else None


async def eventually_counted(client, count):
    """Wait until the store's counters are copied again, which is done once a second at most."""

    async def is_counted():
        return await total(client, "TOPIC_PUT_NUMS", "T") == count

    await eventually(is_counted)


async def commit(client, group, topic, offset, queue_id=0):
    fields = {"consumerGroup": group, "topic": topic, "queueId": queue_id, "commitOffset": offset}
    assert (await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)).code == 0


async def test_messages_are_counted_as_they_are_stored_and_as_they_are_read(client):
    for body in (b"one", b"two", b"three"):
        await client.send("T", body)
    for offset in (0, 2):
        # The second like the first: the engine answers it, and counts it too.
        assert (await client.pull("T", queueOffset=offset)).code == 0

    await eventually_counted(client, 3)
    assert await total(client, "GROUP_GET_NUMS", "T@g") == 4
    assert await total(client, "BROKER_PUT_NUMS", "TestCluster") == 3
    assert await total(client, "BROKER_GET_NUMS", "TestCluster") == 4
    read = await stats(client, "GROUP_GET_NUMS", "T@g")
    assert {span: (one["sum"], one["avgpt"]) for span, one in read.items()} == dict.fromkeys(
        ("statsMinute", "statsHour", "statsDay"), (4, 2.0)
    )
    assert read["statsMinute"]["tps"] > 0
    size = (await stats(client, "GROUP_GET_SIZE", "T@g"))["statsDay"]["sum"]
    stored = (await stats(client, "TOPIC_PUT_SIZE", "T"))["statsDay"]["sum"]
    assert 0 < stored < size


async def test_simultaneous_pulls_of_several_groups_are_counted_separately(client):
    for _ in range(4):
        await client.send("T", b"x")
    groups = ("g", "h", "i")
    # The first pull of each makes its group, the second lets the engine answer those that follow.
    for group in (*groups, *groups):
        await client.pull("T", consumerGroup=group)

    pulls = [
        client.start_pull("T", consumerGroup=group, queueOffset=offset)
        for offset in range(4)
        for group in groups[:2]
    ]
    answers = await asyncio.gather(*pulls)

    assert [len(messages(one)) for one in answers] == [4, 4, 3, 3, 2, 2, 1, 1]
    counts = [await total(client, "GROUP_GET_NUMS", f"T@{group}") for group in groups]
    assert counts == [18, 18, 8]


async def test_what_was_never_counted_is_an_error_of_stocks_and_no_zero(client):
    unknown = await stats(client, "TOPIC_PUT_NUMS", "Never")
    nameless = await stats(client, "NO_SUCH_STAT", "T")
    incomplete = await client.call(STATS, {"statsName": "TOPIC_PUT_NUMS"})

    assert unknown == (1, "The stats <TOPIC_PUT_NUMS> <Never> not exist")
    assert nameless == (1, "The stats <NO_SUCH_STAT> <T> not exist")
    assert incomplete.code == 1


async def test_a_message_that_comes_back_is_counted_by_the_topic_it_was_read_from(client):
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    [record] = messages(await client.pull("T"))
    back = {"offset": record.log_position, "group": "g", "delayLevel": 0, "originTopic": "T"}

    assert (await client.call(RequestCode.CONSUMER_SEND_MSG_BACK, back)).code == 0

    assert await total(client, "SNDBCK_PUT_NUMS", "T@g") == 1


async def test_a_topic_of_the_same_name_is_counted_from_nothing(client):
    await client.send("T", b"x")
    await client.pull("T")
    await eventually_counted(client, 1)

    await client.call(DELETE_TOPIC, {"topic": "T"})
    gone = await stats(client, "GROUP_GET_NUMS", "T@g")
    for _ in range(2):
        await client.send("T", b"y")

    assert gone == (1, "The stats <GROUP_GET_NUMS> <T@g> not exist")
    await eventually_counted(client, 2)


async def test_all_groups_of_a_broker_are_answered_with_their_places_and_rates(client, broker):
    await client.call(
        RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("Ordered", order=True, readQueueNums=1)
    )
    for topic in ("T", "Ordered"):
        for _ in range(3):
            await client.send(topic, b"x")
    for group, topic in (("g", "T"), ("g", "Ordered"), ("h", "T")):
        await client.pull(topic, consumerGroup=group)
        await commit(client, group, topic, 2)
    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("Gone"))
    await commit(client, "g", "Gone", 1)
    await client.call(DELETE_TOPIC, {"topic": "Gone"})

    answer = await client.call(CONSUME_STATS, {"isOrder": "false"})
    ordered = await client.call(CONSUME_STATS, {"isOrder": "true"})

    told = java_json.loads(answer.body)
    assert told["brokerAddr"] == f"127.0.0.1:{broker.port}"
    assert (told["totalDiff"], told["totalInflightDiff"]) == (3, 3)
    assert places(told) == {
        ("g", "T"): (3, 2),
        ("g", "Ordered"): (3, 2),
        ("h", "T"): (3, 2),
    }
    assert all(stats["consumeTps"] > 0 for _, stats in topics_of(told))
    assert answer.body.startswith(b'{"brokerAddr":"127.0.0.1:')
    assert {"TOOLS_CONSUMER": []} in told["consumeStatsList"]
    assert set(places(java_json.loads(ordered.body))) == {("g", "Ordered")}


async def test_what_a_connected_group_does_not_read_any_more_is_left_out(client):
    for topic in ("T", "U"):
        await client.send(topic, b"x")
    await client.heartbeat("g", "T", "U")
    for topic in ("T", "U"):
        await commit(client, "g", topic, 1)
    await client.heartbeat("g", "U")

    told = java_json.loads((await client.call(CONSUME_STATS, {"isOrder": "false"})).body)

    assert set(places(told)) == {("g", "U")}


def topics_of(told):
    return [
        (group, stats)
        for one in told["consumeStatsList"]
        for group, found in one.items()
        for stats in found
    ]


def places(told):
    """Ends and committed offsets of queue 0, by group and topic."""
    return {
        (group, json.loads(key)["topic"]): (one["brokerOffset"], one["consumerOffset"])
        for group, stats in topics_of(told)
        for key, one in stats["offsetTable"].items()
        if json.loads(key)["queueId"] == 0
    }


async def leave_queue_without_topic(client, broker, topic="T"):
    """Delete a topic while a message of it is delayed: it is delivered nevertheless."""
    # Not before the topic is gone, however long that takes.
    broker.broker.state.delays.stop()
    await client.send(topic, b"late", properties={"DELAY": "1"})
    await client.call(DELETE_TOPIC, {"topic": topic})
    broker.broker.state.delays.start()
    await eventually(lambda: broker.store.offsets(topic, 0) is not None)


async def test_queues_that_no_topic_claims_are_cleaned_and_all_others_stay(client, broker):
    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("Empty"))
    await client.send("Kept", b"kept")
    await leave_queue_without_topic(client, broker)

    cleaned = await client.call(CLEAN)
    again = await client.call(CLEAN)
    await client.send("T", b"new")

    assert (cleaned.code, again.code) == (0, 0)
    assert bodies(await client.pull("T")) == [b"new"]
    assert bodies(await client.pull("Kept")) == [b"kept"]
    assert broker.broker.topics.find("Empty") is not None
    assert broker.store.offsets("SCHEDULE_TOPIC_XXXX", 0) is not None


async def test_a_step_that_cleans_reports_which_queues_there_were_and_is_not_done_twice(
    client, broker
):
    await leave_queue_without_topic(client, broker)

    done = await client.call(CLEAN, step(0, fence=5))
    again = await client.call(CLEAN, step(0, fence=5))
    stale = await client.call(CLEAN, step(1, fence=4))

    assert effect(done) == effect(again) == (["T"], [])
    assert stale.code == 7001


async def make_unread_messages(client):
    """A group with a retry, a dead letter and a committed offset."""
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    for topic in ("%RETRY%g", "%DLQ%g"):
        await client.call(
            RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields(topic, readQueueNums=1)
        )
    await commit(client, "g", "T", 1)


@pytest.mark.parametrize(
    ("fields", "left"),
    [({}, {"%RETRY%g", "%DLQ%g"}), ({"cleanOffset": "true"}, set())],
)
async def test_a_group_that_is_deleted_with_its_offsets_leaves_no_retries(
    client, broker, fields, left
):
    await make_unread_messages(client)

    deleted = await client.call(DELETE_GROUP, {"groupName": "g"} | fields)
    again = await client.call(DELETE_GROUP, {"groupName": "g"} | fields)

    tables = broker.broker
    assert (deleted.code, again.code) == (0, 0)
    assert {one.name for one in tables.topics.all() if one.name.endswith("%g")} == left
    assert (tables.offsets.find("g", "T", 0) is None) == (not left)
    assert tables.topics.find("T") is not None
