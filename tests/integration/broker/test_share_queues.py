"""What a broker reports of its share queues, and what operators change of them (ADR 22)."""

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.integration.broker.popping import (
    SHORT_MS,
    ack,
    bodies,
    pop,
    pop_fields,
    popped,
    set_mode,
)
from tests.integration.broker.test_fenced_changes import effect, step
from tests.waiting import eventually

QUEUE = {"topic": "T", "queueId": 0, "consumerGroup": "g"}
FENCED = 7001


@pytest.fixture
async def consumer(client):
    """A client of group `g`, with four messages in queue 0 of topic `T`, and one in queue 1."""
    for number in range(4):
        await client.send("T", b"%d" % number)
    await client.send("T", b"other", queue_id=1)
    await client.heartbeat("g", "T", client_id="c1")
    return client


async def ask_queues(client, **fields):
    told = await client.call(RequestCode.GET_SHARE_QUEUES, fields)
    assert told.code == 0, told.remark
    return java_json.loads(told.body)


async def ask_messages(client, **fields):
    told = await client.call(RequestCode.GET_SHARE_MESSAGES, QUEUE | fields)
    assert told.code == 0, told.remark
    return java_json.loads(told.body)


def holds_of(told):
    names = ("offset", "popTimeMs", "tag")
    return [{name: one[name] for name in names} for one in told["messages"] if one["isAcquired"]]


async def release(client, holds, **fields):
    body = java_json.encode(QUEUE | {"holds": holds})
    return await client.call(RequestCode.RELEASE_SHARE_MESSAGES, fields, body=body)


async def test_a_share_queue_says_what_consumers_have_and_what_was_done(consumer):
    await set_mode(consumer, "POP")
    first = await pop(consumer, queueId=0, maxMsgNums=3)
    assert await ack(consumer, first[1]) == 0

    told = await ask_queues(consumer, topic="T", consumerGroup="g")

    assert told["isLeading"]
    assert told["ledMs"] >= 0
    queues = {one["queueId"]: one for one in told["queues"]}
    assert (told["totalCount"], sorted(queues)) == (4, [0, 1, 2, 3])
    queue = queues[0]
    assert queue["oldestAcquiredMs"] >= 0
    assert queue["oldestDeliveredMs"] >= queue["oldestAcquiredMs"]
    wanted = {
        "topic": "T",
        "consumerGroup": "g",
        "mode": "PRIMARY",
        "consumeMode": "POP",
        "isUsed": True,
        "isOrdered": False,
        "attemptCountMax": 16,
        "discards": False,
        "start": 0,
        "end": 3,
        "maxOffset": 4,
        "windowSize": 4096,
        "acquiredCount": 2,
        "returnedCount": 0,
        "finishedCount": 1,
        "deliveredCount": 3,
        "redeliveredCount": 0,
        "acceptedCount": 1,
        "deadLetterCount": 0,
        "discardedCount": 0,
        "retriedCount": 0,
        "resetEpoch": 0,
    }
    assert {name: queue[name] for name in wanted} == wanted
    assert (queues[1]["acquiredCount"], queues[1]["maxOffset"]) == (0, 1)
    assert queues[1]["oldestAcquiredMs"] is None


async def test_a_list_is_of_one_topic_or_group_and_empty_where_there_is_no_share_queue(consumer):
    await pop(consumer)

    assert (await ask_queues(consumer))["totalCount"] == 4
    assert (await ask_queues(consumer, topic="U"))["queues"] == []
    assert (await ask_queues(consumer, consumerGroup="h"))["queues"] == []
    assert (await ask_messages(consumer, consumerGroup="h"))["queue"] is None


async def test_a_broker_that_does_not_lead_says_so_in_place_of_an_empty_list(consumer, broker):
    await pop(consumer)
    broker.broker.shares.stand_down()

    listed, one = await ask_queues(consumer), await ask_messages(consumer)

    assert (listed["isLeading"], listed["queues"], listed["ledMs"]) == (False, [], 0)
    assert (one["isLeading"], one["queue"]) == (False, None)


async def test_messages_name_their_consumer_and_how_often_they_were_delivered(consumer):
    await pop(consumer, queueId=0, maxMsgNums=1, invisibleTime=SHORT_MS)

    async def returned():
        told = await ask_messages(consumer)
        return told if told["queue"]["returnedCount"] else None

    told = await eventually(returned)
    (message,) = told["messages"]
    assert (message["isAcquired"], message["clientId"], message["dueInMs"]) == (False, None, 0)

    await pop(consumer, queueId=0, maxMsgNums=2)
    told = await ask_messages(consumer)

    assert told["queue"]["redeliveredCount"] == 1
    found = [
        (one["offset"], one["clientId"], one["isConnected"], one["deliveryCount"])
        for one in told["messages"]
    ]
    assert found == [(0, "c1", True, 2), (1, "c1", True, 1)]
    assert all(0 < one["dueInMs"] <= 60_000 for one in told["messages"])


async def test_a_client_that_left_is_named_as_one_that_is_gone(consumer, broker, connect):
    gone = await connect(broker)
    await gone.heartbeat("g", "T", client_id="c2")
    assert len(await pop(gone, queueId=0)) == 4
    await gone.close()

    async def is_gone():
        told = await ask_messages(consumer)
        return [one for one in told["messages"] if not one["isConnected"]]

    found = await eventually(is_gone)

    assert [one["clientId"] for one in found] == ["c2"] * 4


async def test_o6_released_messages_go_to_a_consumer_that_waits(consumer, broker, connect):
    gone = await connect(broker)
    former = await pop(gone, queueId=0)
    holds = holds_of(await ask_messages(consumer))
    waiting = consumer.start(RequestCode.POP_MESSAGE, pop_fields(queueId=0, pollTime=60_000))

    told = await release(consumer, holds, **step(0, fence=1))

    assert effect(told) == ({"acquired": 4}, {"acquired": 0})
    again = popped(await waiting)
    assert bodies(again) == [b"0", b"1", b"2", b"3"]
    assert {one.reconsume_times for one in again} == {1}
    # The former consumer returns: its handles are void.
    assert await ack(gone, former[0]) == 208
    assert await ack(consumer, again[0]) == 0


async def test_what_was_delivered_again_since_is_not_released(consumer, broker, connect):
    gone = await connect(broker)

    async def holds_of_all():
        # A busy machine may need longer than messages are hidden.
        await pop(gone, queueId=0, invisibleTime=SHORT_MS)
        holds = holds_of(await ask_messages(consumer))
        return holds if len(holds) == 4 else None

    holds, found = await eventually(holds_of_all), []

    async def all_came_again():
        found.extend(await pop(consumer, queueId=0))
        return len(found) == 4

    await eventually(all_came_again)

    told = await release(consumer, holds, **step(0, fence=2))

    assert effect(told) == ({"acquired": 0}, {"acquired": 0})
    assert len(holds_of(await ask_messages(consumer))) == 4
    stale = await release(consumer, holds, **step(0, fence=1, operation="o2"))
    assert stale.code == FENCED


async def test_o54_a_reset_is_another_epoch_and_what_consumers_have_is_void(consumer):
    first = await pop(consumer, queueId=0)
    assert await ack(consumer, first[0]) == 0
    reset = {"group": "g", "topic": "T", "timestamp": -1, "isForce": True}

    told = await consumer.call(
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, reset | {"queueId": 0, "offset": 0}
    )

    assert told.code == 0
    queue = (await ask_messages(consumer))["queue"]
    assert (queue["start"], queue["end"], queue["acquiredCount"]) == (0, 0, 0)
    assert queue["resetEpoch"] > 0
    assert not queue["isUsed"]
    assert await ack(consumer, first[1]) == 208
    assert bodies(await pop(consumer, queueId=0)) == [b"0", b"1", b"2", b"3"]


async def test_an_operator_moves_a_group_without_consumers_too(consumer):
    found = await pop(consumer, queueId=0)
    assert [await ack(consumer, one) for one in found] == [0] * 4
    code, fields = RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": 1}
    await consumer.call(code, fields)
    assert await pop(consumer, queueId=0) == []

    told = await consumer.call(code, fields | step(0, fence=1))

    assert told.code == 0
    assert bodies(await pop(consumer, queueId=0)) == [b"1", b"2", b"3"]


async def test_an_offset_beyond_the_end_skips_no_later_message(consumer):
    code, fields = RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": 9}
    assert len(await pop(consumer, queueId=0)) == 4

    told = await consumer.call(code, fields | step(0, fence=1))

    assert told.code == 0
    assert await pop(consumer, queueId=0) == []
    assert (await consumer.send("T", b"later", queue_id=0)).code == 0
    assert bodies(await pop(consumer, queueId=0)) == [b"later"]
    refused = await consumer.call(code, fields | {"commitOffset": -1} | step(1, fence=2))
    assert refused.code == ResponseCode.INVALID_PARAMETER
