"""A former master passes on what clients still send to it, and decides nothing of it (R10c)."""

import asyncio
import itertools
import json
from dataclasses import dataclass, field

import pytest
from regent_engine import parse_offset_message_id

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, messages, send_fields
from tests.integration.broker.test_bad_input import create_fields
from tests.integration.broker.test_fenced_changes import step
from tests.integration.replication.conftest import GROUP, read_all
from tests.waiting import PATIENCE_S

TOPIC = "orders"
QUEUE_COUNT = 4
IN_FLIGHT = 8
NOT_TAKEN = 7002
LOCK = {"clientId": "c1", "consumerGroup": "g"}
QUEUE = {"topic": TOPIC, "brokerName": GROUP, "queueId": 0}


async def elect(group, broker_id):
    fields = {
        "clusterName": "TestCluster",
        "brokerName": GROUP,
        "brokerId": broker_id,
        "designateElect": True,
    }
    answer = await group.admin.call(RequestCode.CONTROLLER_ELECT_MASTER, fields)
    assert answer.code == 0, answer.remark


@pytest.fixture
def pair(group):
    """A master and a replica, both of which have the topic."""

    async def create(**properties):
        await group.add_many(2, **properties)
        assert (await group.send(1, b"first")).code == 0
        await await_topic(group.client(2))
        return group.client(1), group.client(2)

    return create


async def await_topic(client, topic=TOPIC):
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if not (await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": topic})).code:
                return
            await asyncio.sleep(0.01)


async def counts(client):
    """Requests that a broker passed on: answered, not answered, not sent."""
    told = json.loads((await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)).body)["table"]
    names = ("passedOnCount", "passedOnUnansweredCount", "notPassedOnCount")
    return tuple(int(told[name]) for name in names)


@dataclass
class Producer:
    """Sends to one broker some messages at a time, and never looks at the route."""

    client: Client
    acknowledged: dict[bytes, tuple[int, int, int]] = field(default_factory=dict)
    """What was acknowledged: its queue, its offset there, its place in the log."""

    refusals: list[tuple[int, str]] = field(default_factory=list)

    async def run(self, is_over):
        numbers = itertools.count()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(IN_FLIGHT):
                tasks.create_task(self.send_on(numbers, is_over))

    async def send_on(self, numbers, is_over):
        while not is_over.is_set():
            number = next(numbers)
            body = b"%d" % number
            answer = await self.client.send(TOPIC, body, queue_id=number % QUEUE_COUNT)
            if answer.code:
                self.refusals.append((answer.code, answer.remark))
                await asyncio.sleep(0.01)
                continue
            _, _, position = parse_offset_message_id(answer.ext["msgId"])
            place = int(answer.ext["queueId"]), int(answer.ext["queueOffset"]), position
            self.acknowledged[body] = place

    async def await_more(self, eventually, count=200):
        wanted = len(self.acknowledged) + count
        await eventually(lambda: len(self.acknowledged) >= wanted)


async def places(client):
    """What a broker shows: each message with its queue, its offset there and its log position."""
    held = {}
    for queue_id in range(QUEUE_COUNT):
        offset = 0
        while True:
            answer = await client.pull(TOPIC, queueId=queue_id, queueOffset=offset, sysFlag=4)
            if answer.code:
                break
            for one in messages(answer):
                assert one.body not in held, "there twice"
                held[one.body] = (queue_id, one.queue_offset, one.log_position)
            offset = int(answer.ext["nextBeginOffset"])
    return held


async def test_a_client_that_never_looks_at_the_route_feels_no_planned_election(group, eventually):
    await group.add_many(3)
    assert (await group.send(1, b"first")).code == 0
    for number in (2, 3):
        await await_topic(group.client(number))
    producer, is_over = Producer(group.client(1)), asyncio.Event()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(producer.run(is_over))
        for epoch, master in enumerate((2, 3, 1, 2), 2):
            await producer.await_more(eventually)
            await elect(group, master)
            await group.await_state(master, epoch, {1, 2, 3})
        await producer.await_more(eventually)
        is_over.set()

    held = await places(group.client(2))
    held.pop(b"first")
    assert producer.refusals == [] or group.waited_in_vain()
    acknowledged = producer.acknowledged
    # What a master that was replaced in a hurry left in doubt is there all the same.
    assert acknowledged == held or (group.hurried and acknowledged.items() <= held.items())
    assert (await counts(group.client(1)))[0] > 0


async def test_nothing_is_acknowledged_that_a_master_took_along_when_it_died(group, eventually):
    await group.add_many(3)
    assert (await group.send(1, b"first")).code == 0
    for number in (2, 3):
        await await_topic(group.client(number))
    producer, is_over = Producer(group.client(1)), asyncio.Event()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(producer.run(is_over))
        await elect(group, 2)
        await group.await_state(2, 2, {1, 2, 3})
        await producer.await_more(eventually)
        await group.pause(2)
        # Answers come in the order of requests: now those before are on their way to the master.
        for _ in range(2):
            await counts(producer.client)
        group.kill(2)
        await producer.await_more(eventually)
        is_over.set()

    master = (await group.await_master(3))[0]
    held = await places(group.client(master))
    assert producer.acknowledged.items() <= held.items()
    assert {code for code, _ in producer.refusals} == {14}
    assert any("it is unknown whether" in remark for _, remark in producer.refusals)


async def test_a_master_that_does_not_answer_is_waited_for_in_bounded_time(group, pair):
    await pair(controllerHeartBeatTimeoutMills="60000", haHousekeepingInterval="60000")
    await group.pause(1)

    answer = await group.client(2).send(TOPIC, b"in doubt")

    assert (answer.code, "it is unknown whether" in answer.remark) == (14, True)
    assert await counts(group.client(2)) == (0, 1, 0)
    group.resume(1)


async def test_a_marked_request_goes_no_further(pair):
    master, replica = await pair()
    marked = {"regentPassedOn": "true"}
    requests = [
        (RequestCode.SEND_MESSAGE_V2, send_fields(TOPIC), b"m"),
        (RequestCode.LOCK_BATCH_MQ, {}, json.dumps(LOCK | {"mqSet": [QUEUE]}).encode()),
        (RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"), b""),
    ]

    at_replica = [await replica.call(c, fields | marked, body) for c, fields, body in requests]
    at_master = [await master.call(c, fields | marked, body) for c, fields, body in requests]

    assert [answer.code for answer in at_replica] == [NOT_TAKEN] * 3
    assert [answer.code for answer in at_master] == [0, 0, 0]
    assert await read_all(master) == [b"first", b"m"]


async def test_a_step_of_an_operation_is_for_the_broker_that_it_names(pair):  # D20
    _, replica = await pair()

    refusal = await replica.call(
        RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T") | step(0, fence=1)
    )

    assert refusal.code == 16


async def test_topics_and_groups_are_changed_through_a_replica(pair):
    master, replica = await pair()

    codes = [
        (await replica.call(code, fields, body)).code
        for code, fields, body in (
            (RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"), b""),
            (RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("gone"), b""),
            (RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "gone"}, b""),
            (RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, b'{"groupName":"g"}'),
            (RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, b'{"groupName":"h"}'),
            (RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "h"}, b""),
        )
    ]

    topics = json.loads((await master.call(RequestCode.GET_ALL_TOPIC_CONFIG)).body)
    groups = json.loads((await master.call(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)).body)
    assert codes == [0] * 6
    assert {"T", "gone"} & topics["topicConfigTable"].keys() == {"T"}
    assert {"g", "h"} & groups["subscriptionGroupTable"].keys() == {"g"}


async def test_consumers_of_a_former_master_lock_commit_and_send_back(pair, eventually):
    master, replica = await pair()
    body = b'{"groupName":"g"}'
    created = await master.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)
    (record,) = messages(await master.pull(TOPIC, sysFlag=4))
    lock = json.dumps(LOCK | {"mqSet": [QUEUE]}).encode()
    other = json.dumps(LOCK | {"clientId": "c2", "mqSet": [QUEUE]}).encode()

    locked = await replica.call(RequestCode.LOCK_BATCH_MQ, body=lock)
    taken = await master.call(RequestCode.LOCK_BATCH_MQ, body=other)
    freed = await replica.call(RequestCode.UNLOCK_BATCH_MQ, body=lock)
    free = await master.call(RequestCode.LOCK_BATCH_MQ, body=other)
    fields = {"consumerGroup": "g", "topic": TOPIC, "queueId": 0, "commitOffset": 1}
    replica.notify(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
    fields = {"group": "g", "offset": record.log_position, "delayLevel": 1}
    sent_back = await replica.call(RequestCode.CONSUMER_SEND_MSG_BACK, fields)

    async def is_committed():
        asked = {"consumerGroup": "g", "topic": TOPIC, "queueId": 0}
        return (await master.call(RequestCode.QUERY_CONSUMER_OFFSET, asked)).ext == {"offset": "1"}

    await eventually(is_committed)
    held = [len(json.loads(answer.body)["lockOKMQSet"]) for answer in (locked, taken, free)]
    assert (created.code, freed.code, sent_back.code, held) == (0, 0, 0, [1, 0, 1])

    async def is_back():
        return await read_all(master, "%RETRY%g") == [b"first"]

    await eventually(is_back)


async def test_a_oneway_send_stays_oneway(pair):
    master, replica = await pair()
    fields = {name: str(value) for name, value in send_fields(TOPIC).items()}

    replica.notify(RequestCode.SEND_MESSAGE_V2, fields, b"oneway")
    answer = await replica.send(TOPIC, b"asked")

    assert await read_all(master) == [b"first", b"oneway", b"asked"]
    assert answer.code == 0
    # The only answer that came is that of the other request.
    assert (await counts(replica), replica.notices) == ((2, 0, 0), [])


async def test_what_a_replica_passes_on_is_set_while_it_runs(pair):
    _, replica = await pair()
    sent = await replica.send(TOPIC, b"passed on")

    changed = await replica.call(RequestCode.UPDATE_BROKER_CONFIG, body=b"passOnToMaster=false")
    refused = await replica.send(TOPIC, b"refused")

    assert (sent.code, changed.code, refused.code) == (0, 0, 14)
    assert "ask for the route" in refused.remark
