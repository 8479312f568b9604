"""Topics that are not replicated, at a broker without a group (queue-ownership.md 4.8)."""

import json
import shutil

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, messages
from tests.integration.broker.popping import ack, pop
from tests.integration.broker.popping import bodies as popped_bodies
from tests.integration.broker.test_bad_input import create_fields
from workers.broker.commit_log.write_block import WriteBlock

TOPIC = "metrics"
LOCAL_START = 1 << 62


async def create(client, attributes="+replicate=false", **fields):
    made = create_fields(TOPIC, attributes=attributes, **fields)
    return await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, made)


async def send_many(client, count, topic=TOPIC):
    for number in range(count):
        assert (await client.send(topic, b"m%d" % number)).code == 0


@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
@pytest.mark.parametrize("stops_cleanly", [True, False])
async def test_a_restart_keeps_messages_offsets_and_what_pop_consumers_have(
    agent, flush, stops_cleanly
):
    client = await agent.start(flushDiskType=flush)
    assert (await create(client)).code == 0
    await client.heartbeat("g", TOPIC)
    await send_many(client, 5)
    await send_many(client, 1, topic="orders")
    (first, *_) = await pop(client, TOPIC, "popper", maxMsgNums=2)
    assert await ack(client, first, "popper") == 0
    place = {"consumerGroup": "g", "topic": TOPIC, "queueId": 0}
    committed = place | {"commitOffset": 3}
    assert (await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, committed)).code == 0

    if stops_cleanly:
        assert agent.end() == 0
    else:
        agent.kill()
    client = await agent.start(flushDiskType=flush)

    await client.heartbeat("g", TOPIC)
    assert (await client.call(RequestCode.QUERY_CONSUMER_OFFSET, place)).ext["offset"] == "3"
    records = messages(await client.pull(TOPIC))
    assert [one.body for one in records] == [b"m%d" % number for number in range(5)]
    assert [one.queue_offset for one in records] == list(range(5))
    assert all(one.log_position >= LOCAL_START for one in records)
    assert popped_bodies(await pop(client, TOPIC, "popper")) == [b"m%d" % n for n in range(1, 5)]
    (other,) = messages(await client.pull("orders"))
    assert other.log_position < LOCAL_START


async def test_requests_by_key_time_and_place_find_the_messages(client):
    await create(client)
    sent = await client.send(TOPIC, b"found", properties={"KEYS": "k"})
    query = {"topic": TOPIC, "key": "k", "maxNum": 9, "beginTimestamp": 0}
    found = await client.call(RequestCode.QUERY_MESSAGE, query | {"endTimestamp": 1 << 60})
    assert bodies(found) == [b"found"]
    place = {"topic": TOPIC, "queueId": 0}
    assert (await client.call(RequestCode.GET_MAX_OFFSET, place)).ext["offset"] == "1"
    stored = await client.call(RequestCode.GET_EARLIEST_MSG_STORETIME, place)
    assert int(stored.ext["timestamp"]) > 0
    sought = await client.call(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, place | {"timestamp": 1})
    assert sought.ext["offset"] == "0"
    (record,) = messages(found)
    viewed = await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": record.log_position})
    assert bodies(viewed) == [b"found"]
    assert int(sent.ext["queueOffset"]) == 0
    told = await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": LOCAL_START + 10**12})
    assert "can not find message" in told.remark


async def test_a_batch_and_a_message_with_a_priority_are_stored_there(client, broker):
    await create(client, "+replicate=false,+message.type=PRIORITY")
    end = broker.broker.store.max_position
    assert (await client.send(TOPIC, b"urgent", properties={"_SYS_MSG_PRIORITY_": "2"})).code == 0
    assert broker.broker.store.max_position == end
    await client.heartbeat("g", TOPIC)
    assert bodies(await client.pull(TOPIC, queueId=2)) == [b"urgent"]


async def test_a_pull_waits_for_its_first_message(client):
    await create(client)
    await client.heartbeat("g", TOPIC)
    waiting = client.start_pull(TOPIC, sysFlag=2, suspendTimeoutMillis=30_000)
    assert (await client.send(TOPIC, b"m")).code == 0
    assert bodies(await waiting) == [b"m"]


async def test_a_topic_that_is_deleted_and_made_again_begins_at_offset_0(client):
    await create(client)
    await send_many(client, 3)
    assert (await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": TOPIC})).code == 0
    assert (await create(client)).code == 0
    assert int((await client.send(TOPIC, b"again")).ext["queueOffset"]) == 0
    await client.heartbeat("g", TOPIC)
    assert bodies(await client.pull(TOPIC)) == [b"again"]


@pytest.mark.parametrize("stops_cleanly", [True, False])
async def test_a_deleted_topic_does_not_come_back_with_a_restart(agent, stops_cleanly):
    client = await agent.start()
    await create(client)
    await send_many(client, 3)
    assert (await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": TOPIC})).code == 0
    if stops_cleanly:
        assert agent.end() == 0
    else:
        agent.kill()

    client = await agent.start()

    assert (await create(client)).code == 0
    assert int((await client.send(TOPIC, b"new")).ext["queueOffset"]) == 0
    await client.heartbeat("g", TOPIC)
    assert bodies(await client.pull(TOPIC)) == [b"new"]


async def test_pop_consumers_get_messages_whose_offsets_were_finished_before_a_loss(agent):
    # A machine that goes down may lose the last messages, and keeps the state of share queues.
    client = await agent.start()
    await create(client)
    await client.heartbeat("g", TOPIC)
    await send_many(client, 3)
    assert agent.end() == 0
    log = agent.root / "store" / "local"
    shutil.copytree(log, log.with_name("former"))
    client = await agent.start()
    await client.heartbeat("g", TOPIC)
    await send_many(client, 5)
    held, *rest = await pop(client, TOPIC, maxMsgNums=8)
    assert [await ack(client, one) for one in rest] == [0] * 7
    assert held.body == b"m0"
    assert agent.end() == 0
    shutil.rmtree(log)
    log.with_name("former").rename(log)

    client = await agent.start()

    await client.heartbeat("g", TOPIC)
    for number in range(5):
        assert (await client.send(TOPIC, b"new%d" % number)).code == 0
    got = popped_bodies(await pop(client, TOPIC, maxMsgNums=32))
    assert got[-5:] == [b"new%d" % number for number in range(5)]


async def test_figures_of_such_topics_are_with_the_others(client):
    await create(client)
    await send_many(client, 3)
    await client.heartbeat("g", TOPIC)
    await client.pull(TOPIC)
    stats = await client.call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": TOPIC})
    table = java_json.loads(stats.body)["offsetTable"]
    assert sorted(one["maxOffset"] for one in table.values()) == [0, 0, 0, 3]
    sample = json.loads((await client.call(RequestCode.GET_BROKER_SAMPLE)).body)
    (topic,) = [one for one in sample["topics"] if one["name"] == TOPIC]
    assert topic["messagesIn"] == 3
    assert topic["queues"] == [{"queueId": 0, "minOffset": 0, "maxOffset": 3}]


async def test_a_full_disk_refuses_its_messages_too(client, broker):
    await create(client)
    await send_many(client, 1)
    broker.broker.block_writes(WriteBlock.DISK_FULL)
    assert (await client.send(TOPIC, b"m")).code != 0
    broker.broker.unblock_writes(WriteBlock.DISK_FULL)
    assert (await client.send(TOPIC, b"m")).code == 0


async def test_a_log_that_can_not_be_opened_refuses_its_topics_only(agent):
    client = await agent.start()
    await create(client)
    await send_many(client, 1)
    assert agent.end() == 0
    log = agent.root / "store" / "local"
    log.rename(log.with_name("away"))
    log.write_text("a file is in the way")

    client = await agent.start()

    await client.heartbeat("g", TOPIC)
    for told in (await client.send(TOPIC, b"m"), await client.pull(TOPIC)):
        assert told.code == 14
        assert "its log can't be opened: " in told.remark
        assert "then restart the broker" in told.remark
    assert (await client.send("orders", b"m")).code == 0
    place = {"consumerGroup": "g", "topic": TOPIC, "queueId": 0}
    commit = place | {"commitOffset": 1}
    assert (await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, commit)).code == 0
    assert agent.end() == 0
    log.unlink()
    log.with_name("away").rename(log)
    client = await agent.start()
    await client.heartbeat("g", TOPIC)
    assert bodies(await client.pull(TOPIC)) == [b"m0"]
    assert (await client.call(RequestCode.QUERY_CONSUMER_OFFSET, place)).ext["offset"] == "1"
