"""A group goes on reading elsewhere, whether its consumers are connected or not (222)."""

import asyncio

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.integration.broker.test_fenced_changes import effect, step
from tests.waiting import PATIENCE_S

RESET = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
QUEUE = {"consumerGroup": "g", "topic": "T", "queueId": 0}
COMMITTING = 1 | 2 | 4


@pytest.fixture
async def consumed(client):
    """Ten messages in queue 0, of which the group has read all."""
    for number in range(10):
        await client.send("T", b"%d" % number)
    await client.heartbeat("g", "T")
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": 10})
    return client


def reset(offset=None, *, timestamp=-1, queue_id=0):
    fields = {"group": "g", "topic": "T", "timestamp": timestamp, "isForce": True}
    return fields | {"queueId": queue_id} | ({} if offset is None else {"offset": offset})


async def committed(client):
    return int((await client.call(RequestCode.QUERY_CONSUMER_OFFSET, QUEUE)).ext["offset"])


async def test_a_waiting_consumer_is_notified_and_goes_on_from_there(consumed, broker):
    waiting = consumed.start_pull("T", queueOffset=10, sysFlag=COMMITTING, commitOffset=10)
    await asyncio.sleep(0)
    done = await consumed.call(RESET, reset(3))
    # What was held is answered at once; what the consumer commits is of before.
    assert (await asyncio.wait_for(waiting, PATIENCE_S)).code in {19, 20, 21}
    late = await consumed.call(RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": 10})

    told = await consumed.pull("T", queueOffset=10, sysFlag=COMMITTING, commitOffset=10)
    if told.code != 21:
        told = await consumed.pull("T", queueOffset=10, sysFlag=COMMITTING, commitOffset=10)
    offset = await committed(consumed)
    after = await consumed.pull("T", queueOffset=3, sysFlag=COMMITTING, commitOffset=3)

    [(_, reported_offset)] = java_json.loads(done.body)["offsetTable"].items()
    assert (done.code, reported_offset, late.code) == (0, 3, 0)
    assert (offset, bodies(after)) == (3, [b"%d" % n for n in range(3, 10)])
    await consumed.call(RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": 5})
    assert await committed(consumed) == 5
    assert not broker.broker.resets.is_pending("g", "T")


async def test_granted_pulls_are_notified_too(consumed):
    # The engine answers such pulls by itself once one of them passed every check.
    for _ in range(3):
        assert (
            await consumed.pull("T", queueOffset=0, sysFlag=COMMITTING, commitOffset=9)
        ).code == 0
    await consumed.call(RESET, reset(2))

    told = await consumed.pull("T", queueOffset=0, sysFlag=COMMITTING, commitOffset=9)

    assert (told.code, told.ext["nextBeginOffset"]) == (21, "2")
    assert await committed(consumed) == 2


async def test_a_moment_and_the_end_are_looked_up_in_every_queue(consumed, broker):
    now_ms = broker.broker.clock()
    all_queues = {"queueId": -1}

    newest = await consumed.call(RESET, reset() | all_queues)
    oldest = await consumed.call(RESET, reset(timestamp=0) | all_queues)
    future = await consumed.call(RESET, reset(timestamp=now_ms + 60_000) | all_queues)

    def offsets(answer):
        return [*java_json.loads(answer.body)["offsetTable"].values()]

    assert offsets(newest) == [10, 0, 0, 0]
    assert offsets(oldest) == [0, 0, 0, 0]
    assert offsets(future) == [10, 0, 0, 0]


async def test_a_step_reports_both_offsets_and_comes_once(consumed, broker):
    first = await consumed.call(RESET, reset(3) | step(0, fence=1))
    await consumed.pull("T", queueOffset=10)
    await consumed.call(RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": 7})

    again = await consumed.call(RESET, reset(3) | step(0, fence=2))

    assert effect(first) == effect(again) == ({"0": 10}, {"0": 3})
    assert await committed(consumed) == 7
    assert broker.store.flushed_position > 0


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (reset(11), 1),
        (reset(-5), 1),
        (reset(3, queue_id=4), 1),
        (reset(3, queue_id=-2), 1),
        (reset(3) | {"topic": "U"}, 17),
        (reset(3) | {"group": "h"}, 26),
    ],
)
async def test_what_cannot_be_reset_is_refused(consumed, fields, code):
    assert (await consumed.call(RESET, fields)).code == code
    assert await committed(consumed) == 10


async def test_a_deleted_topic_or_group_takes_its_reset_along(consumed, broker):
    await consumed.call(RESET, reset(3))
    await consumed.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"})
    assert not broker.broker.resets.is_pending("g", "T")
