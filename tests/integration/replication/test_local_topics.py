"""Topics that are not replicated: only the master has their messages (queue-ownership.md 4.8)."""

import json
import re

import pytest

from backend.clients.clock import SystemClock
from backend.domain.replica_group import LeasePolicy
from backend.domain.share_incident import IncidentFilter
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.share_incident import IncidentKind
from backend.services.share_queue.incidents import judge_incidents, list_incidents
from tests.integration.broker.client import bodies, messages
from tests.integration.broker.popping import ack, pop
from tests.integration.broker.popping import bodies as popped_bodies
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually

TOPIC, OTHER = "metrics", "orders"


def first_of(epoch):
    """Give where the queues of an epoch begin: with a queue file, of 3 000 entries in tests."""
    return -(-(epoch << 40) // 3_000) * 3_000


async def create(client, attributes, **fields):
    made = create_fields(TOPIC, attributes=attributes, **fields)
    return await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, made)


async def create_local(group):
    return await create(group.client(1), "+replicate=false")


async def send(group, number, body, topic=TOPIC):
    answer = await group.send(number, body, topic=topic)
    assert answer.code == 0, answer.remark
    return int(answer.ext["queueOffset"])


async def committed(client, group_name="g", topic=TOPIC):
    fields = {"consumerGroup": group_name, "topic": topic, "queueId": 0}
    answer = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    assert answer.code == 0, answer.remark
    return int(answer.ext["offset"])


async def commit(client, offset):
    """Commit an offset, and have a record of the log before a kill may come."""
    fields = {"consumerGroup": "g", "topic": TOPIC, "queueId": 0, "commitOffset": offset}
    assert (await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)).code == 0
    # The record of an order has the commits before it.
    assert (await create(client, "", readQueueNums=5)).code == 0


async def lost_topics(group):
    """Give the topics whose messages are reported as lost, each with the epoch of its loss."""
    database = group.name_server.controller.database
    async with database.begin() as connection:
        await judge_incidents(connection, clock=SystemClock())
    page = await list_incidents(size=100, before=None, chosen=IncidentFilter(), database=database)
    found = [one for one in page.items if one.kind is IncidentKind.MESSAGES_LOST]
    return [(one.topic, one.epoch) for one in found]


async def test_o56_a_topic_that_is_not_replicated_works_and_its_loss_is_reported(group):
    # Q4: the messages of such a topic are at the master alone.
    await group.add_many(2)
    assert (await create_local(group)).code == 0
    client = group.client(1)
    await client.heartbeat("g", TOPIC)
    offsets = [await send(group, 1, b"m%d" % number) for number in range(20)]
    assert offsets == list(range(first_of(1), first_of(1) + 20))
    await send(group, 1, b"replicated", OTHER)
    await group.await_equal_logs()
    log = (group.agents[1].root / "store" / "commitlog" / f"{0:020}").read_bytes()
    assert b"replicated" in log
    assert b"m19" not in log
    pulled = await client.pull(TOPIC, queueOffset=first_of(1))
    assert bodies(pulled) == [b"m%d" % number for number in range(20)]
    (first, *_) = await pop(client, TOPIC, "popper", maxMsgNums=3)
    assert await ack(client, first, "popper") == 0
    assert len(await pop(client, TOPIC, "holder", maxMsgNums=3)) == 3
    await commit(client, first_of(1) + 7)
    await group.await_equal_logs()

    group.kill(1)
    await group.await_state(2, 2, {2})

    # The group goes on with the next message, and no queue uses an offset for the second time.
    client = group.client(2)
    await client.heartbeat("g", TOPIC)
    assert await read_all(client, topic=OTHER) == [b"replicated"]
    assert await committed(client) == first_of(2)
    moved = await client.pull(TOPIC, queueOffset=first_of(1) + 7)
    assert (moved.code, int(moved.ext["nextBeginOffset"])) == (21, first_of(2))
    assert await send(group, 2, b"new") == first_of(2)
    assert bodies(await client.pull(TOPIC, queueOffset=first_of(2))) == [b"new"]
    for popper in ("popper", "holder"):
        assert popped_bodies(await pop(client, TOPIC, popper)) == [b"new"]

    async def is_reported():
        return await lost_topics(group) == [(TOPIC, 2)]

    await eventually(is_reported)
    assert group.agents[1].events("messages_lost")


async def test_a_replica_sends_readers_of_such_a_topic_to_the_master(group):
    await group.add_many(2)
    assert (await create_local(group)).code == 0
    await send(group, 1, b"m")
    await group.await_equal_logs()
    replica = group.client(2)
    await replica.heartbeat("g", TOPIC)
    place = {"topic": TOPIC, "queueId": 0}

    async def knows_the_topic():
        return (await replica.pull(TOPIC)).code != ResponseCode.TOPIC_NOT_EXIST

    await eventually(knows_the_topic)

    told = [
        await replica.pull(TOPIC),
        await replica.call(RequestCode.GET_MAX_OFFSET, place),
        await replica.call(RequestCode.GET_TOPIC_STATS_INFO, place),
    ]

    for answer in told:
        assert answer.code == 14
        assert "is not replicated: only the master of this broker group" in answer.remark


@pytest.mark.parametrize("stops_cleanly", [True, False])
async def test_a_master_that_is_elected_again_has_its_messages(group, stops_cleanly):
    await group.add_many(1)
    assert (await create_local(group)).code == 0
    client = group.client(1)
    await client.heartbeat("g", TOPIC)
    for number in range(5):
        await send(group, 1, b"m%d" % number)
    (first, *_) = await pop(client, TOPIC, "popper", maxMsgNums=2)
    assert await ack(client, first, "popper") == 0
    await commit(client, first_of(1) + 3)

    if stops_cleanly:
        group.agents[0].end()
    else:
        group.kill(1)
    await group.start(1)
    state = await group.await_master(2)

    assert state[0] == 1
    client = group.client(1)
    await client.heartbeat("g", TOPIC)
    assert await committed(client) == first_of(1) + 3
    pulled = await client.pull(TOPIC, queueOffset=first_of(1))
    assert bodies(pulled) == [b"m%d" % number for number in range(5)]
    assert popped_bodies(await pop(client, TOPIC, "popper")) == [b"m%d" % n for n in range(1, 5)]
    assert await send(group, 1, b"next") == first_of(1) + 5
    assert await lost_topics(group) == []


async def test_a_master_that_comes_back_after_another_one_begins_empty(group):
    await group.add_many(2)
    assert (await create_local(group)).code == 0
    await send(group, 1, b"old")
    group.kill(1)
    await group.await_state(2, 2, {2})
    await send(group, 2, b"between")
    await group.start(1)
    await group.await_state(2, 2, {1, 2})

    group.kill(2)
    await group.await_state(1, 3, {1})

    client = group.client(1)
    await client.heartbeat("g", TOPIC)
    assert await send(group, 1, b"new") == first_of(3)
    pulled = await client.pull(TOPIC, queueOffset=first_of(3))
    assert [(one.body, one.queue_offset) for one in messages(pulled)] == [(b"new", first_of(3))]

    async def is_reported():
        return sorted(await lost_topics(group)) == [(TOPIC, 2), (TOPIC, 3)]

    await eventually(is_reported)


async def test_a_held_pull_gets_a_message_that_no_replica_has_confirmed(group):
    await group.add_many(2)
    assert (await create_local(group)).code == 0
    client = group.client(1)
    await client.heartbeat("g", TOPIC)
    await group.pause(2)
    waiting = client.start_pull(
        TOPIC, queueOffset=first_of(1), sysFlag=2, suspendTimeoutMillis=30_000
    )

    answer = await client.send(TOPIC, b"at once")

    assert answer.code == 0
    assert bodies(await waiting) == [b"at once"]
    group.resume(2)


async def test_a_deleted_topic_comes_back_replicated(group):
    await group.add_many(2)
    assert (await create_local(group)).code == 0
    await send(group, 1, b"local")
    client = group.client(1)

    assert (await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": TOPIC})).code == 0

    async def is_made():
        return (await create(client, "")).code == 0

    await eventually(is_made)
    await send(group, 1, b"everywhere")
    await group.await_equal_logs()
    assert await read_all(client, topic=TOPIC) == [b"everywhere"]
    log = (group.agents[1].root / "store" / "commitlog" / f"{0:020}").read_bytes()
    assert b"everywhere" in log


async def test_a_message_given_back_by_a_push_consumer_is_retried(group):
    await group.add_many(2)
    assert (await create_local(group)).code == 0
    client = group.client(1)
    await client.heartbeat("g", TOPIC)
    await send(group, 1, b"hard")
    (record,) = messages(await client.pull(TOPIC, queueOffset=first_of(1)))
    fields = {"group": "g", "offset": record.log_position, "delayLevel": 1, "originTopic": TOPIC}

    assert (await client.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)).code == 0

    # A group that is new begins with the first message.
    place = {"consumerGroup": "h", "topic": TOPIC, "queueId": 0, "setZeroIfNotFound": True}
    begun = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, place)
    assert int(begun.ext["offset"]) == first_of(1)

    async def is_retried():
        return await read_all(client, topic="%RETRY%g") == [b"hard"]

    await eventually(is_retried)
    viewed = await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": record.log_position})
    assert messages(viewed)[0].body == b"hard"
    # The next master has another message at the beginning of its log, and never takes it for that.
    group.kill(1)
    await group.await_state(2, 2, {2})
    await send(group, 2, b"easy")
    client = group.client(2)
    for told in (
        await client.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields),
        await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": record.log_position}),
    ):
        assert "can not find message" in told.remark


@pytest.mark.parametrize("lease_policy", [LeasePolicy.STRICT])
async def test_a_master_without_a_lease_acknowledges_no_message(group):
    await group.add_many(2, slaveTimeout="1000")
    assert (await create_local(group)).code == 0
    await send(group, 1, b"m")
    await group.stop_controller()
    client = group.client(1)

    async def is_refused():
        return (await client.send(TOPIC, b"m")).code != 0

    await eventually(is_refused)


async def test_what_such_a_topic_can_not_have_is_refused(group):
    await group.add_many(2)
    client = group.client(1)
    shared = await create(client, "+replicate=false,+share.mode=SHARED")
    assert shared.code != 0
    assert "replicate of metrics can't be false" in shared.remark
    retry = create_fields("%RETRY%g", attributes="+replicate=false")
    refused = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, retry)
    assert "it has messages of topics that are replicated" in refused.remark
    assert (await create_local(group)).code == 0
    changed = await create(client, "+replicate=true")
    assert "can only be set at creation" in changed.remark
    assert "can only be set at creation" in (await create(client, "-replicate")).remark
    for properties in ({"DELAY": "1"}, {"TRAN_MSG": "true"}):
        refused = await client.send(TOPIC, b"m", properties=properties)
        assert refused.code != 0
        assert re.search(r"is not replicated, and takes no (delayed|transactional)", refused.remark)
    assert (await create(client, "", readQueueNums=9, writeQueueNums=9)).code == 0
    config = json.loads((await client.call(351, {"topic": TOPIC})).body)
    assert config["attributes"] == {"replicate": "false"}
