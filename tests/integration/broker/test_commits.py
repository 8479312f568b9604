"""What a client commits, what it has pulled, and what of both is shown (15, 11, 208, 317)."""

import json

import pytest
from structlog.testing import capture_logs

from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import Agent

COMMIT_WITH_PULL = 1 | 4


@pytest.fixture
async def consumer(client):
    """A client whose group reads a topic of four messages."""
    for number in range(4):
        await client.send("T", b"%d" % number)
    await client.heartbeat("g", "T")
    return client


async def commit(client, offset, *, topic="T", queue_id=0):
    fields = {
        "consumerGroup": "g",
        "topic": topic,
        "queueId": queue_id,
        "commitOffset": offset,
    }
    return await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)


async def committed(client, *, topic="T", queue_id=0):
    place = {"consumerGroup": "g", "topic": topic, "queueId": queue_id}
    fields = place | {"setZeroIfNotFound": False}
    answer = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    return int(answer.ext["offset"]) if answer.code == 0 else None


async def progress(client):
    """The consumer offset and the pulled offset of the first queue (208)."""
    fields = {"consumerGroup": "g", "topic": "T"}
    answer = await client.call(RequestCode.GET_CONSUME_STATS, fields)
    text = answer.body.decode()
    first = text[text.index('"queueId":0') :]
    told = json.loads(first[first.index("}:") + 2 : first.index("}", first.index("}:") + 2) + 1])
    return told["consumerOffset"], told["pullOffset"]


async def test_a_commit_beyond_the_end_is_lowered_at_once_and_said(consumer):
    # Case C11.
    with capture_logs() as logs:
        answers = [await commit(consumer, offset) for offset in (9, 2**62)]

    assert {answer.code for answer in answers} == {0}
    assert answers[0].remark == "the offset 9 is beyond the end of the queue: 4 was committed"
    assert await committed(consumer) == 4
    told = [one for one in logs if one["event"] == "commit_lowered"]
    assert [(one["offset"], one["queue_end"], one["topic_name"]) for one in told] == [(9, 4, "T")]


async def test_a_pull_that_commits_beyond_the_end_commits_the_end(consumer):
    # Case C11: the first is answered by the dispatcher, the others by the engine.
    for _ in range(3):
        fields = {"sysFlag": COMMIT_WITH_PULL, "commitOffset": 9}
        assert (await consumer.pull("T", **fields)).code == 0

        assert await committed(consumer) == 4
    await consumer.send("T", b"4")
    assert await committed(consumer) == 4


async def test_a_commit_that_means_no_place_is_refused(consumer):
    # Case C11.
    refused = [
        await commit(consumer, -1),
        await commit(consumer, -(2**63)),
        await commit(consumer, 0, queue_id=64),
        await commit(consumer, 0, queue_id=-1),
    ]
    unknown = await commit(consumer, 0, topic="none")

    assert {answer.code for answer in refused} == {29}
    assert "negative" in refused[0].remark
    assert "has no queue 64" in refused[2].remark
    assert unknown.code == 17
    assert await committed(consumer) is None


async def test_a_negative_commit_with_a_pull_changes_nothing(consumer):
    # Case C11.
    await commit(consumer, 2)
    for _ in range(3):
        fields = {"sysFlag": COMMIT_WITH_PULL, "commitOffset": -1}
        assert (await consumer.pull("T", **fields)).code == 0

    assert await committed(consumer) == 2


async def test_no_loss_is_reported_at_a_restart_where_nothing_was_lost(agent: Agent):
    # Case C11.
    client = await agent.start()
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    assert (await commit(client, 9)).code == 0
    await client.close()
    agent.stop()

    client = await agent.start()

    assert await committed(client) == 1
    assert agent.events("offsets_lowered") == []
    await client.close()


async def test_what_was_pulled_and_not_committed_is_shown(consumer):
    # Case C3: as stock's LagCalculationIT has it.
    await commit(consumer, 1)
    assert await progress(consumer) == (1, 1)

    for _ in range(2):
        # The first is answered by the dispatcher, the second by the engine.
        await consumer.pull("T", queueOffset=1, maxMsgNums=2)
        assert await progress(consumer) == (1, 3)
    everything = await consumer.call(RequestCode.GET_BROKER_CONSUME_STATS, {"isOrder": "false"})

    assert everything.body.endswith(b'"totalDiff":3,"totalInflightDiff":2}')
    await commit(consumer, 3)
    assert await progress(consumer) == (3, 3)


async def test_a_group_that_never_committed_shows_what_it_pulled(consumer):
    # Case C3.
    await consumer.pull("T")

    assert await progress(consumer) == (0, 4)


async def test_a_reset_group_has_nothing_in_flight(consumer):
    # Case C3.
    await consumer.pull("T")
    await commit(consumer, 4)
    fields = {"topic": "T", "group": "g", "timestamp": 0, "isForce": "true"}

    assert (await consumer.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields)).code == 0

    assert await progress(consumer) == (0, 0)
