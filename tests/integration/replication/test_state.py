"""Committed offsets and delayed messages travel in the log across failovers (D14, I9, I13)."""

import asyncio
import itertools
import json
import time
from collections import Counter
from functools import partial

import pytest

from backend.remoting.names import STATE_TOPIC
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import send_fields
from tests.integration.broker.test_sending import batch_entry
from tests.integration.replication.conftest import GROUP, read_all
from tests.waiting import PATIENCE_S

BATCH_SIZE, BATCH_COUNT = 2_000, 20
STALE_S_MAX = 0.1
"""Of the least stale of several: a busy machine holds some of them up, a fault all."""


@pytest.fixture
def consumers(group):
    """A consumer group on the first broker, as tools make it."""

    async def create(count, **properties):
        await group.add_many(count, **properties)
        assert (await group.send(1, b"first")).code == 0
        body = b'{"groupName":"g"}'
        answer = await group.client(1).call(
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body
        )
        assert answer.code == 0, answer.remark
        await fill(group.client(1))

    return create


async def fill(client):
    """Store more messages than these tests commit: an offset beyond the end is lowered."""
    fields = send_fields("orders") | {"m": "true"}
    batch = batch_entry(b"x", {}) * BATCH_SIZE
    for _ in range(BATCH_COUNT):
        answer = await client.call(RequestCode.SEND_BATCH_MESSAGE, fields, batch)
        assert answer.code == 0, answer.remark


async def has_grown(client, count):
    """Whether more than so many messages are there to be read."""
    answer = await client.call(RequestCode.GET_MAX_OFFSET, {"topic": "orders", "queueId": 0})
    return int(answer.ext["offset"]) > count


async def commit(client, offset, *, queue_id=0):
    fields = {"consumerGroup": "g", "topic": "orders", "queueId": queue_id, "commitOffset": offset}
    return await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)


async def committed(client, *, queue_id=0):
    """The offset that the master knows, once it serves."""
    fields = {"consumerGroup": "g", "topic": "orders", "queueId": queue_id}
    async with asyncio.timeout(PATIENCE_S):
        while True:
            answer = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
            if answer.code == 0:
                return int(answer.ext["offset"])
            await asyncio.sleep(0.01)


class Committer:
    """Commits one offset after the other, and remembers when each was answered."""

    def __init__(self, client, first=1):
        self.client, self.first, self.answered = client, first, []
        self.is_over = False
        self.task = asyncio.create_task(self.run())

    async def run(self):
        for offset in itertools.count(self.first):
            if self.is_over or self.client.closed.is_set():
                return
            try:
                answer = await commit(self.client, offset)
            except ConnectionError:
                return
            if answer.code:
                return
            self.answered.append((offset, time.monotonic()))
            await asyncio.sleep(0.001)

    def age_s(self, offset, moment):
        """For how long the offset after this one had been answered by a moment."""
        return max((moment - at for later, at in self.answered if later > offset), default=0.0)


async def shown(client):
    """The offset of a broker, under any master."""
    body = (await client.call(RequestCode.GET_ALL_CONSUMER_OFFSET)).body
    return json.loads(body)["offsetTable"].get("orders@g", {}).get("0", 0)


async def is_shown(client, offset):
    return await shown(client) >= offset


async def test_a_killed_masters_offsets_are_at_most_a_moment_old(group, consumers, eventually):
    await consumers(2)
    master, stale_s = 1, []
    for epoch in range(2, 6):
        before = await shown(group.client(3 - master))
        committer = Committer(group.client(master), first=before + 1)
        await eventually(partial(is_shown, group.client(3 - master), before + 100))
        passed_on = await shown(group.client(3 - master))
        killed_at = time.monotonic()
        group.kill(master)
        await committer.task
        former, master = master, 3 - master
        await group.await_state(master, epoch, {master})

        offset = await committed(group.client(master))

        assert passed_on <= offset <= committer.answered[-1][0]
        stale_s.append(committer.age_s(offset, killed_at))
        await group.start(former)
        await group.await_state(master, epoch, {1, 2})
    assert min(stale_s) <= STALE_S_MAX


@pytest.mark.parametrize("way", ["elected", "stopped"])
async def test_a_planned_change_of_the_master_keeps_every_offset(group, consumers, eventually, way):
    await consumers(3)
    committer = Committer(group.client(1))
    await eventually(lambda: len(committer.answered) > 100)
    if way == "stopped":
        await asyncio.to_thread(group.agents[0].stop)
    else:
        await elect(group, 2)
        # What is committed from now on is passed on by the former master.
        count = len(committer.answered)
        await eventually(lambda: len(committer.answered) > count + 100)
        committer.is_over = True
    await asyncio.wait([committer.task])

    master = (await group.await_master(2))[0]

    assert await committed(group.client(master)) == committer.answered[-1][0]


async def elect(group, broker_id):
    fields = {"clusterName": "TestCluster", "brokerName": GROUP, "designateElect": True}
    answer = await group.admin.call(
        RequestCode.CONTROLLER_ELECT_MASTER, fields | {"brokerId": broker_id}
    )
    assert answer.code == 0, answer.remark


async def test_a_reset_that_no_consumer_saw_throws_no_consumer_back_after_another_master(
    group, consumers
):
    await consumers(2)
    for number in range(9):
        assert (await group.send(1, b"%d" % number)).code == 0
    fields = {"group": "g", "topic": "orders", "queueId": 0, "timestamp": -1, "offset": 2}
    reset = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
    assert (await group.client(1).call(reset, fields | {"isForce": True})).code == 0
    await elect(group, 2)
    await group.await_master(2)
    assert await committed(group.client(2)) == 2
    assert (await commit(group.client(2), 7)).code == 0
    # Only who is in the set again may be elected.
    await group.await_state(2, 2, {1, 2})
    await elect(group, 1)
    await group.await_master(3)
    assert await committed(group.client(1)) == 7

    pulled = await group.client(1).pull("orders", consumerGroup="g", queueOffset=7)

    assert pulled.code == 0
    assert await committed(group.client(1)) == 7


async def test_a_lone_master_that_is_killed_knows_its_offsets(group, consumers, eventually):
    await consumers(1)
    assert (await commit(group.client(1), 5)).code == 0
    await eventually(lambda: b"orders@g" in group.log_bytes(1))
    group.kill(1)

    await group.start(1)

    await group.await_state(1, 2, {1})
    assert await committed(group.client(1)) == 5


async def test_a_replica_takes_no_commits_and_gives_no_locks(group, consumers):
    await consumers(2, passOnToMaster="false")
    assert (await commit(group.client(1), 1)).code == 0
    wish = b'{"clientId":"c1","consumerGroup":"g","mqSet":[]}'

    refusals = [
        await commit(group.client(2), 2),
        await group.client(2).call(RequestCode.LOCK_BATCH_MQ, body=wish),
    ]

    assert [refusal.code for refusal in refusals] == [14, 14]
    assert all("ask for the route" in refusal.remark for refusal in refusals)


@pytest.mark.parametrize(
    ("name", "values"), [("DELAY", ("1", "2")), ("TIMER_DELAY_MS", ("1000", "2000"))]
)
async def test_delayed_messages_are_delivered_once_whenever_the_master_is_killed(
    group, eventually, name, values
):  # I13
    short, long = values
    await group.add_many(2, messageDelayLevel="1s 2s", timerPrecisionMs="100")
    assert (await group.send(1, b"first")).code == 0
    master, sent = 1, []
    for epoch in range(2, 6):
        for number in range(300):
            body = b"%d-%d" % (epoch, number)
            properties = {name: short if number % 3 else long}
            answer = await group.client(master).send("orders", body, properties=properties)
            assert answer.code == 0
            sent.append(body)
        # In the middle of the deliveries, which take as long as the sends took.
        wanted = len(sent) - 250
        await eventually(partial(has_grown, group.client(master), wanted))
        group.kill(master)
        former, master = master, 3 - master
        await group.await_state(master, epoch, {master})
        await group.start(former)
        await group.await_state(master, epoch, {1, 2})

    async def are_all_there():
        return len(await read_all(group.client(master))) > len(sent)

    await eventually(are_all_there)
    await asyncio.sleep(0.5)
    held = await read_all(group.client(master))
    assert Counter(held) == Counter([b"first", *sent])


async def test_no_client_sees_the_topic_that_a_group_keeps_its_state_in(group, consumers):
    await consumers(2)
    client = group.client(1)
    queue = {"topic": STATE_TOPIC, "queueId": 0}
    layout = {"defaultTopic": "TBW102", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
    layout |= {"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False}

    answers = {
        "send": await client.send(STATE_TOPIC, b"m"),
        "pull": await client.pull(STATE_TOPIC, sysFlag=4),
        "last": await client.call(RequestCode.GET_MAX_OFFSET, queue),
        "first": await client.call(RequestCode.GET_MIN_OFFSET, queue),
        "by time": await client.call(
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, queue | {"timestamp": 0}
        ),
        "earliest": await client.call(RequestCode.GET_EARLIEST_MSG_STORETIME, queue),
        "figures": await client.call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": STATE_TOPIC}),
        "layout": await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": STATE_TOPIC}),
        "create": await client.call(
            RequestCode.UPDATE_AND_CREATE_TOPIC, layout | {"topic": STATE_TOPIC}
        ),
        "delete": await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": STATE_TOPIC}),
        "by tag": await client.call(
            RequestCode.QUERY_MESSAGE,
            {"topic": STATE_TOPIC, "key": "snapshot", "indexType": "T", "maxNum": 9}
            | {"beginTimestamp": 0, "endTimestamp": 2**62},
        ),
        "view": await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": 0}),
    }
    codes = {name: answer.code for name, answer in answers.items()}

    refused = {"create": 29, "delete": 29, "view": 1}
    assert codes == dict.fromkeys(codes, 16) | refused
    listed = await client.call(RequestCode.GET_ALL_TOPIC_CONFIG)
    named = await client.call(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
    route = await group.admin.call(105, {"topic": STATE_TOPIC})
    assert STATE_TOPIC.encode() not in listed.body + named.body
    assert route.code == 17
    sample = json.loads((await client.call(RequestCode.GET_BROKER_SAMPLE)).body)
    counted = {topic["name"]: topic["messagesIn"] for topic in sample["topics"]}
    assert STATE_TOPIC not in counted
    assert sample["messagesIn"] == sum(counted.values()) == BATCH_COUNT * BATCH_SIZE + 1


async def test_samples_hold_the_id_of_the_role_and_the_one_that_stays(group, consumers):
    await consumers(2)
    answers = [await group.client(n).call(RequestCode.GET_BROKER_SAMPLE) for n in (1, 2)]

    samples = [json.loads(answer.body) for answer in answers]
    assert [(sample["brokerId"], sample["ownId"]) for sample in samples] == [(0, 1), (2, 2)]


async def test_offsets_of_a_deleted_topic_do_not_come_back(group, consumers, eventually):
    await consumers(2)
    assert (await commit(group.client(1), 7)).code == 0

    async def is_known_to_replica(table):
        body = (await group.client(2).call(RequestCode.GET_ALL_CONSUMER_OFFSET)).body
        return json.loads(body)["offsetTable"] == table

    await eventually(lambda: is_known_to_replica({"orders@g": {"0": 7}}))
    answer = await group.client(1).call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "orders"})
    assert answer.code == 0
    await eventually(lambda: is_known_to_replica({}))

    group.kill(1)

    await group.await_state(2, 2, {2})
    body = (await group.client(2).call(RequestCode.GET_ALL_CONSUMER_OFFSET)).body
    assert json.loads(body)["offsetTable"] == {}


async def test_stock_files_are_still_written_for_tools(group, consumers, eventually):
    await consumers(2, flushConsumerOffsetInterval="100")
    assert (await commit(group.client(1), 7)).code == 0
    paths = [agent.root / "store" / "config" / "consumerOffset.json" for agent in group.agents]

    def tables():
        return [
            json.loads(path.read_bytes())["offsetTable"] if path.exists() else {} for path in paths
        ]

    await eventually(lambda: tables() == [{"orders@g": {"0": 7}}] * 2)
