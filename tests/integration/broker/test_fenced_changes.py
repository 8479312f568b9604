"""An agent carries a step out once, returns its change, and refuses a replaced worker (D20, G6)."""

import asyncio
import json

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.test_bad_input import create_fields

CREATE = RequestCode.UPDATE_AND_CREATE_TOPIC
DELETE = RequestCode.DELETE_TOPIC_IN_BROKER
PUT_GROUP = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
FENCED = 7001


def step(number, *, fence, operation="o1"):
    return {
        "regentOperation": operation,
        "regentStep": f"operation {operation}/{number}",
        "regentFence": fence,
    }


def effect(answer):
    assert answer.code == 0, answer.remark
    return tuple(json.loads(answer.ext[f"regent{name}"]) for name in ("Before", "After"))


async def test_a_step_reports_the_value_before_and_after(client):
    created = await client.call(CREATE, create_fields("T", readQueueNums=2) | step(0, fence=1))
    grown = await client.call(CREATE, create_fields("T", readQueueNums=3) | step(1, fence=1))
    deleted = await client.call(DELETE, {"topic": "T"} | step(2, fence=1))

    (before, after), (was, now) = effect(created), effect(grown)
    assert (before, after["readQueueNums"]) == (None, 2)
    assert (was, now["readQueueNums"]) == (after, 3)
    assert effect(deleted) == (now, None)


async def test_a_step_that_comes_again_has_one_effect_and_the_same_answer(client, broker):
    ordered = create_fields("T", readQueueNums=2) | step(0, fence=1)
    first = await client.call(CREATE, ordered)
    # Another user changes the topic meanwhile, and the first worker's successor asks once more.
    await client.call(CREATE, create_fields("T", readQueueNums=7))

    again = await client.call(CREATE, ordered | {"regentFence": 2})

    assert effect(again) == effect(first)
    assert broker.broker.topics.find("T").read_queue_count == 7


async def test_a_worker_that_was_overtaken_is_refused_and_the_newer_worker_is_named(client, broker):
    await client.call(CREATE, create_fields("T", readQueueNums=2) | step(0, fence=5))

    stale = await client.call(
        CREATE, create_fields("T", readQueueNums=9) | step(0, fence=4, operation="o2")
    )
    elsewhere = await client.call(CREATE, create_fields("U") | step(0, fence=4, operation="o2"))

    assert (stale.code, stale.ext["regentHeldFence"]) == (FENCED, "5")
    assert "topic T was changed under fence 5" in stale.remark
    assert broker.broker.topics.find("T").read_queue_count == 2
    assert elsewhere.code == 0


async def test_fences_and_effects_outlive_the_agent(agent):
    client = await agent.start()
    ordered = create_fields("T", readQueueNums=2) | step(0, fence=5)
    first = effect(await client.call(CREATE, ordered))
    agent.kill()

    client = await agent.start()
    again = await client.call(CREATE, ordered | {"regentFence": 6})
    stale = await client.call(CREATE, create_fields("T") | step(9, fence=5))

    assert effect(again) == first
    assert stale.code == FENCED
    await client.close()


async def test_what_is_refused_leaves_no_trace_of_itself(client):
    refused = await client.call(CREATE, create_fields("T", perm=77) | step(0, fence=1))
    await client.call(CREATE, create_fields("T", readQueueNums=5))

    made = await client.call(CREATE, create_fields("T", readQueueNums=6) | step(0, fence=1))

    assert refused.code == 29
    before, after = effect(made)
    assert (before["readQueueNums"], after["readQueueNums"]) == (5, 6)


async def test_steps_of_one_target_come_one_behind_another(client):
    answers = await asyncio.gather(
        *(
            client.call(CREATE, create_fields("T", readQueueNums=n) | step(n, fence=n))
            for n in range(1, 9)
        )
    )

    told = [effect(answer) for answer in answers]
    assert [after["readQueueNums"] for _, after in told] == [*range(1, 9)]
    assert [before for before, _ in told[1:]] == [after for _, after in told[:-1]]


async def test_groups_are_fenced_too_and_deleted_with_or_without_their_offsets(client, broker):
    body = b'{"groupName":"g","retryMaxTimes":3}'
    made = await client.call(PUT_GROUP, step(0, fence=1), body)
    broker.broker.offsets.commit("g", "T", queue_id=0, offset=4)

    kept = await client.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "g"})
    assert broker.broker.offsets.find("g", "T", 0) == 4
    await client.call(PUT_GROUP, body=body)
    fields = {"groupName": "g", "cleanOffset": True}
    gone = await client.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, fields | step(1, fence=2))
    shown = await client.call(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "g"})
    built_in = await client.call(
        RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "TOOLS_CONSUMER"}
    )

    assert (effect(made)[0], effect(made)[1]["retryMaxTimes"]) == (None, 3)
    assert (kept.code, effect(gone)[1], shown.code, built_in.code) == (0, None, 26, 29)
    assert broker.broker.offsets.find("g", "T", 0) is None


async def test_a_topic_goes_only_empty_where_that_is_asked_for(client, broker):
    await client.send("T", b"x")

    refused = await client.call(DELETE, {"topic": "T", "regentOnlyEmpty": True} | step(0, fence=1))
    await client.call(CREATE, create_fields("U"))
    gone = await client.call(DELETE, {"topic": "U", "regentOnlyEmpty": True} | step(1, fence=1))

    assert (refused.code, gone.code) == (604, 0)
    assert broker.broker.topics.find("T") is not None
    assert broker.broker.topics.find("U") is None


@pytest.mark.parametrize(
    ("code", "fields", "refusal"),
    [
        (RequestCode.GET_TOPIC_CONFIG, {"topic": "T"} | step(0, fence=1), 17),
        (CREATE, create_fields("T") | {"regentFence": 1}, 1),
        (CREATE, create_fields("T") | step(0, fence=1) | {"regentFence": "one"}, 1),
    ],
)
async def test_what_is_no_step_is_refused(client, broker, code, fields, refusal):
    assert (await client.call(code, fields)).code == refusal
    assert broker.broker.topics.find("T") is None


async def test_the_groups_that_consume_a_topic_are_notified(client, broker):
    await client.send("T", b"x")
    await client.heartbeat("online", "T")
    broker.broker.offsets.commit("once", "T", queue_id=0, offset=1)
    broker.broker.offsets.commit("other", "U", queue_id=0, offset=1)

    told = await client.call(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, {"topic": "T"})

    assert json.loads(told.body) == {"groupList": ["once", "online"]}
