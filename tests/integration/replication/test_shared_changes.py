"""What is ordered of a master outlives it: topics, groups, fences and effects (D14, D20)."""

import asyncio
import json

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.popping import pop
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.broker.test_fenced_changes import effect, step
from tests.integration.broker.test_transactions import send_half
from tests.integration.replication.conftest import GROUP, read_all
from tests.integration.replication.popping import consumer
from tests.waiting import PATIENCE_S

CREATE = RequestCode.UPDATE_AND_CREATE_TOPIC
DELETE = RequestCode.DELETE_TOPIC_IN_BROKER
PUT_GROUP = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
DELETE_GROUP = RequestCode.DELETE_SUBSCRIPTIONGROUP
FENCED = 7001
LATE = 12
NO_TOPIC = 17


def group_body(retry_count_max):
    return json.dumps({"groupName": "g", "retryMaxTimes": retry_count_max}).encode()


ORDERS = {
    "create topic": (CREATE, create_fields("T", readQueueNums=2), b""),
    "change topic": (CREATE, create_fields("T", readQueueNums=5), b""),
    "delete topic": (DELETE, {"topic": "T"}, b""),
    "create topic again": (CREATE, create_fields("T", readQueueNums=3), b""),
    "create group": (PUT_GROUP, {}, group_body(3)),
    "change group": (PUT_GROUP, {}, group_body(4)),
    "delete group": (DELETE_GROUP, {"groupName": "g"}, b""),
    "create group again": (PUT_GROUP, {}, group_body(5)),
}
OUTCOMES = [
    (2, None),
    (5, None),
    (None, None),
    (3, None),
    (3, 3),
    (3, 4),
    (3, None),
    (3, 5),
]


async def known(client):
    """Queues of the topic and retries of the group, None where there is none."""
    topics = json.loads((await client.call(RequestCode.GET_ALL_TOPIC_CONFIG)).body)
    groups = json.loads((await client.call(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)).body)
    topic = topics["topicConfigTable"].get("T")
    group = groups["subscriptionGroupTable"].get("g")
    return (topic and topic["readQueueNums"], group and group["retryMaxTimes"])


async def is_known(client, wanted):
    return await known(client) == wanted


async def order(client, code, fields=None, body=b""):
    """Ask until the broker takes the order as master, which has made room for what it creates."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            answer = await client.call(code, fields, body)
            if answer.code not in {2, 14, 16}:
                return answer
            await asyncio.sleep(0.01)


async def test_what_was_ordered_is_known_to_the_successor_of_a_killed_master(group):
    await group.add_many(2)
    master = 1
    for epoch, (wanted, outcome) in enumerate(zip(ORDERS.values(), OUTCOMES, strict=True), 2):
        answer = await order(group.client(master), *wanted)
        group.kill(master)
        assert answer.code == 0, answer.remark

        former, master = master, 3 - master
        await group.await_state(master, epoch, {master})

        assert await known(group.client(master)) == outcome
        await group.start(former)
        await group.await_state(master, epoch, {1, 2})


async def test_a_lone_master_that_is_killed_knows_what_was_ordered(group):
    await group.add()
    await group.await_state(1, 1, {1})
    for epoch, (wanted, outcome) in enumerate(zip(ORDERS.values(), OUTCOMES, strict=True), 2):
        answer = await order(group.client(1), *wanted)
        group.kill(1)
        assert answer.code == 0, answer.remark

        await group.start(1)

        await group.await_state(1, epoch, {1})
        assert await known(group.client(1)) == outcome


async def test_a_topic_made_by_a_first_send_is_known_with_its_message(group):
    await group.add_many(2)
    sent = await group.client(1).send("T", b"first", queue_id=3)
    group.kill(1)
    assert sent.code == 0

    await group.await_state(2, 2, {2})

    assert (await known(group.client(2)))[0] == 4
    assert await read_all(group.client(2), "T", queue_id=3) == [b"first"]


async def test_fences_and_effects_are_known_to_the_next_master(group):
    await group.add_many(2)
    ordered = create_fields("T", readQueueNums=2) | step(0, fence=5)
    made = await order(group.client(1), CREATE, ordered)
    # Another user changes the topic meanwhile.
    await order(group.client(1), CREATE, create_fields("T", readQueueNums=7))
    group.kill(1)
    await group.await_state(2, 2, {2})
    successor = group.client(2)

    again = await order(successor, CREATE, ordered | {"regentFence": 6})
    stale = await order(
        successor, CREATE, create_fields("T", readQueueNums=9) | step(9, fence=5, operation="o2")
    )

    assert effect(again) == effect(made)
    assert (stale.code, stale.ext["regentHeldFence"]) == (FENCED, "6")
    assert (await known(successor))[0] == 7


async def test_what_is_set_on_one_broker_stays_fenced_there_and_nowhere_else(group):
    await group.add_many(2)
    config = b"fileReservedTime=70"
    code = RequestCode.UPDATE_BROKER_CONFIG
    made = [
        await group.client(number).call(code, step(0, fence=fence), config)
        for number, fence in ((1, 9), (2, 5))
    ]
    group.kill(1)
    await group.await_state(2, 2, {2})

    stale = await group.client(2).call(code, step(1, fence=4), config)
    newer = await group.client(2).call(code, step(2, fence=6), config)

    assert [answer.code for answer in made] == [0, 0]
    assert (stale.code, stale.ext["regentHeldFence"]) == (FENCED, "5")
    assert newer.code == 0


@pytest.mark.parametrize("is_made_again", [False, True])
async def test_a_deleted_topic_comes_back_with_no_replica(group, eventually, is_made_again):
    await group.add_many(2)
    for number in range(20):
        assert (await group.send(1, b"%d" % number, topic="T", queue_id=number % 2)).code == 0
    assert (await order(group.client(1), DELETE, {"topic": "T"})).code == 0
    if is_made_again:
        assert (await order(group.client(1), CREATE, create_fields("T"))).code == 0
    folders = [agent.root / "store" / "consumequeue" / "T" for agent in group.agents]
    await eventually(lambda: not any(folder.exists() for folder in folders))
    # One that makes its queues from the whole log, of which it was not there.
    await group.add()
    await group.await_state(1, 1, {1, 2, 3})
    folders.append(group.agents[2].root / "store" / "consumequeue" / "T")
    await eventually(lambda: not folders[2].exists())
    fields = {"clusterName": "TestCluster", "brokerName": GROUP, "brokerId": 3}
    elected = await group.admin.call(
        RequestCode.CONTROLLER_ELECT_MASTER, fields | {"designateElect": True}
    )
    assert elected.code == 0, elected.remark
    await group.await_state(3, 2, {1, 2, 3})

    for number in (3, 2, 1):
        assert ((await known(group.client(number)))[0] is not None) == is_made_again
    pulled = await group.client(3).pull("T", sysFlag=4)
    sent = await group.send(3, b"new", topic="T") if is_made_again else None

    assert pulled.code in {19, 21} if is_made_again else pulled.code == NO_TOPIC
    assert sent is None or sent.ext["queueOffset"] == "0"


async def test_what_no_replica_held_is_undone_on_a_master_that_loses_its_log(group, eventually):
    await group.add_many(2, slaveTimeout="300")
    # On a busy machine the replica has both later than the master waits for it.
    assert (await group.send(1, b"kept", topic="T")).code in {0, LATE}
    assert (await order(group.client(1), PUT_GROUP, body=group_body(3))).code in {0, LATE}
    await group.await_equal_logs()
    await eventually(lambda: is_known(group.client(2), (4, 3)))
    # It has read nothing of what follows when it ends.
    await group.pause(2)
    wanted = [
        (CREATE, create_fields("U"), b""),
        (DELETE, {"topic": "T"}, b""),
        (PUT_GROUP, {}, group_body(9)),
        (DELETE_GROUP, {"groupName": "g"}, b""),
    ]
    fenced = create_fields("V") | step(0, fence=50)

    answers = [await group.client(1).call(*one) for one in [*wanted, *wanted]]
    stepped = await group.client(1).call(CREATE, fenced)
    remade = await group.client(1).call(CREATE, create_fields("T"))
    assert await known(group.client(1)) == (None, None)
    group.kill(1)
    group.kill(2)
    await group.start(2)
    await group.await_state(2, 2, {2})
    await group.start(1)
    await group.await_state(2, 2, {1, 2})

    # A repeated request does not report success either for data that no other broker has.
    assert [answer.code for answer in answers] == [LATE] * len(answers)
    assert "not every replica holds it yet: ask again" in answers[0].remark
    assert (stepped.code, remade.code) == (LATE, 2)
    assert "is being deleted" in remade.remark
    for number in (1, 2):
        assert await known(group.client(number)) == (4, 3)
        table = json.loads((await group.client(number).call(21)).body)["topicConfigTable"]
        assert not {"U", "V"} & table.keys()

    async def is_whole():
        return await read_all(group.client(1), "T") == [b"kept"]

    await eventually(is_whole)
    lower = await order(group.client(2), CREATE, create_fields("V") | step(1, fence=40))
    assert lower.code == 0, lower.remark


async def test_queues_without_a_topic_are_cleaned_by_the_master_for_all(group, eventually):
    # Longer than the deletion takes where a broker stands still meanwhile.
    await group.add_many(2, messageDelayLevel="6s")
    assert (await group.send(1, b"late", topic="Gone")).code == 0
    delayed = await group.client(1).send("Gone", b"later", properties={"DELAY": "1"})
    assert delayed.code == 0
    await order(group.client(1), DELETE, {"topic": "Gone"})
    folders = [agent.root / "store" / "consumequeue" / "Gone" for agent in group.agents]
    # The delayed message comes due and makes a queue that no topic claims.
    await eventually(lambda: not any(one.exists() for one in folders))
    await eventually(lambda: all(one.exists() for one in folders))

    by_replica = await group.client(2).call(RequestCode.CLEAN_UNUSED_TOPIC)
    assert (by_replica.code, [one.exists() for one in folders]) == (0, [True, True])
    cleaned = await group.client(1).call(RequestCode.CLEAN_UNUSED_TOPIC)

    assert cleaned.code == 0, cleaned.remark
    await eventually(lambda: not any(one.exists() for one in folders))
    group.kill(1)
    await group.await_state(2, 2, {2})
    assert (await order(group.client(2), CREATE, create_fields("Gone"))).code == 0
    assert await read_all(group.client(2), "Gone") == []


async def test_a_group_deleted_with_its_offsets_leaves_no_retries_on_the_next_master(group):
    await group.add_many(2)
    assert (await group.send(1, b"x", topic="T")).code == 0
    await group.client(1).heartbeat("g", "T")
    assert (await group.client(1).send("%DLQ%g", b"dead")).code == 0

    fields = {"groupName": "g", "cleanOffset": "true"}
    answer = await order(group.client(1), DELETE_GROUP, fields)
    group.kill(1)
    await group.await_state(2, 2, {2})

    assert answer.code == 0, answer.remark
    table = json.loads((await group.client(2).call(21)).body)["topicConfigTable"]
    assert not {"%RETRY%g", "%DLQ%g"} & table.keys()
    assert "T" in table


async def begin_lowering(group):
    """Give the master share queues, and the order to write them in records of a version."""
    assert (await group.send(1, b"m")).code in {0, LATE}
    assert await pop(await consumer(group, 1), "orders")
    # The group has no limit here, so its master soon raises the version again.
    wanted = [({"version": 2}, {"version": after}) for after in (1, 2)]
    return RequestCode.COMPACT_SHARE_QUEUES, {"version": 1}, wanted


async def begin_transaction(group):
    """Give the master a pending transaction, and the order to commit it."""
    await send_half(group.client(1), b"m", topic="orders", queue_id=0)
    fields = {"firstOffset": 0, "transactionId": "Km", "commit": "true"}
    pending = {"transactionId": "Km", "isPending": True}
    return RequestCode.DECIDE_TRANSACTION, fields, [(pending, pending | {"isPending": False})]


@pytest.mark.parametrize("begin", [begin_lowering, begin_transaction])
async def test_an_order_is_not_done_before_each_later_master_has_it(group, eventually, begin):
    # Else the next step of the operation would rely on what the next master lacks.
    await group.add_many(2, slaveTimeout="300")
    code, fields, wanted = await begin(group)
    await group.await_equal_logs()
    await group.pause(2)

    answers = [await group.client(1).call(code, fields | step(0, fence=50)) for _ in range(2)]

    group.resume(2)
    assert [answer.code for answer in answers] == [LATE, LATE]

    shown = []

    async def is_done():
        again = await group.client(1).call(code, fields | step(0, fence=50))
        shown[:] = [again.code, again.remark, again.code == 0 and effect(again)]
        return again.code == 0 and effect(again) in wanted

    await eventually(is_done, seen=lambda: shown)
