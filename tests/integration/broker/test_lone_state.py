"""What a broker without a controller knows besides messages, whenever it is killed (D29)."""

import json
import time
from itertools import product

import pytest
from regent_engine import decode_records

from backend.remoting import java_json
from backend.remoting.names import STATE_TOPIC, dead_letter_topic, retry_topic
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.integration.broker.test_bad_input import create_fields
from tests.long_form import few
from workers.broker.replication.state_record import decode_state

QUEUE = {"consumerGroup": "g", "topic": "T", "queueId": 0}
FLUSHES = ("ASYNC_FLUSH", "SYNC_FLUSH")
ENDS = ("none", "stop", "kill")


class Broker:
    """An agent, its client, and the ways in which it may come to be a new one."""

    def __init__(self, agent, flush="ASYNC_FLUSH", **settings):
        self.agent, self.settings = agent, {"flushDiskType": flush} | settings
        # These tests start agents more than a hundred times, and imports are most of a start.
        self.agent.is_forked = True
        self.client = None

    async def start(self):
        self.client = await self.agent.start(**self.settings)
        return self

    async def go_on(self, end):
        """Go on at once, or after a stop or a kill."""
        if end == "none":
            return
        self.agent.stop() if end == "stop" else self.agent.kill()
        await self.start()

    async def call(self, code, fields=None, body=b""):
        answer = await self.client.call(code, fields, body)
        assert answer.code == 0, answer
        return answer

    async def create(self, topic="T"):
        await self.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields(topic))

    async def delete(self, topic="T"):
        await self.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": topic})

    async def send(self, count, word, topic="T", **more):
        for number in range(count):
            assert (await self.client.send(topic, b"%s%d" % (word, number), **more)).code == 0

    async def commit(self, offset):
        await self.call(RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"commitOffset": offset})

    async def committed(self):
        fields = QUEUE | {"setZeroIfNotFound": "false"}
        answer = await self.client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
        return answer.ext.get("offset") if answer.code == 0 else None

    async def ends(self, topic="T"):
        queue = {"topic": topic, "queueId": 0}
        low = await self.call(RequestCode.GET_MIN_OFFSET, queue)
        high = await self.call(RequestCode.GET_MAX_OFFSET, queue)
        return int(low.ext["offset"]), int(high.ext["offset"])

    async def all_of(self, topic="T"):
        found = []
        while (
            pulled := await self.client.pull(topic, queueOffset=len(found), sysFlag=4)
        ).code == 0:
            found += bodies(pulled)
            if len(found) >= (await self.ends(topic))[1]:
                break
        return found

    async def knows(self, code, **fields):
        return (await self.client.call(code, fields)).code == 0


@pytest.mark.parametrize(("deleted", "made", "flush"), few(product(ENDS, ENDS, FLUSHES), 6))
async def test_a_topic_that_is_made_again_is_empty_whenever_its_broker_ends(
    agent, flush, deleted, made
):
    # Case A6, case A7.
    broker = await Broker(agent, flush).start()
    await broker.send(50, b"old")
    await broker.client.heartbeat("g", "T")
    await broker.commit(50)

    await broker.delete()
    await broker.go_on(deleted)
    await broker.create()
    await broker.go_on(made)

    assert await broker.ends() == (0, 0)
    assert await broker.committed() is None
    await broker.send(20, b"new")
    assert await broker.all_of() == [b"new%d" % number for number in range(20)]
    await broker.go_on("kill")
    assert await broker.ends() == (0, 20)
    assert await broker.all_of() == [b"new%d" % number for number in range(20)]


@pytest.mark.parametrize("end", ENDS[1:])
async def test_a_topic_is_deleted_and_made_again_many_times(agent, end):
    # Case A6.
    broker = await Broker(agent).start()
    for life in range(4):
        await broker.send(5 + life, b"life%d-" % life)
        if life < 3:
            await broker.delete()
        await broker.go_on(end)

    assert await broker.all_of() == [b"life3-%d" % number for number in range(8)]


async def test_a_deleted_topic_stays_deleted_after_a_kill(agent):
    # Case A6.
    broker = await Broker(agent).start()
    await broker.send(3, b"old")
    await broker.delete()

    await broker.go_on("kill")

    assert not await broker.knows(RequestCode.GET_TOPIC_CONFIG, topic="T")
    assert await broker.ends() == (0, 0)


@pytest.mark.parametrize("end", few(ENDS, 2))
async def test_a_delayed_message_of_a_former_life_is_not_delivered(agent, end):
    # Case A6.
    broker = await Broker(agent, messageDelayLevel="1s 2s").start()
    await broker.send(1, b"former", properties={"DELAY": "2"})
    await broker.delete()
    await broker.create()
    await broker.go_on(end)
    await broker.send(1, b"later", properties={"DELAY": "2"})

    pulled = await broker.client.pull("T", sysFlag=6)

    assert bodies(pulled) == [b"later0"]


@pytest.mark.parametrize("end", few(ENDS, 1))
async def test_what_was_delivered_to_a_deleted_topic_is_gone_once_it_is_made_again(agent, end):
    # Case A6.
    broker = await Broker(agent, messageDelayLevel="1s 2s").start()
    await broker.send(1, b"former", properties={"DELAY": "1"})
    await broker.delete()
    while await broker.ends() != (0, 1):
        await broker.send(1, b"tick", topic="other")
    await broker.go_on(end)

    await broker.create()

    assert await broker.ends() == (0, 0)
    await broker.go_on("kill")
    assert await broker.ends() == (0, 0)


@pytest.mark.parametrize("flush", FLUSHES)
async def test_what_was_answered_outlives_a_kill(agent, flush):
    # Case A7: nothing that a client was answered is lost, however soon the kill comes.
    broker = await Broker(agent, flush).start()
    await broker.send(3, b"m")
    await broker.client.heartbeat("g", "T")
    await broker.create("made")
    group = java_json.encode({"groupName": "ordered", "retryMaxTimes": 3})
    await broker.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=group)
    await broker.commit(2)

    await broker.go_on("kill")

    assert await broker.committed() == "2"
    for topic in ("T", "made", retry_topic("g")):
        assert await broker.knows(RequestCode.GET_TOPIC_CONFIG, topic=topic)
    shown = await broker.call(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "ordered"})
    assert json.loads(shown.body)["retryMaxTimes"] == 3
    assert await broker.knows(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, group="g")


@pytest.mark.parametrize("end", ENDS)
async def test_a_group_that_is_made_again_has_no_offsets_and_no_retries(agent, end):
    # Case A7.
    broker = await Broker(agent).start()
    await broker.send(5, b"m")
    await broker.client.heartbeat("g", "T")
    await broker.create(dead_letter_topic("g"))
    await broker.send(2, b"retry", topic=retry_topic("g"))
    await broker.commit(5)

    fields = {"groupName": "g", "cleanOffset": "true"}
    await broker.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, fields)
    await broker.go_on(end)
    await broker.client.heartbeat("g", "T")
    await broker.go_on(end)

    assert await broker.committed() is None
    assert await broker.ends(retry_topic("g")) == (0, 0)
    assert not await broker.knows(RequestCode.GET_TOPIC_CONFIG, topic=dead_letter_topic("g"))


async def test_a_killed_broker_delivers_no_delayed_message_twice(agent):
    # Case A7: the progress of delays is in the log with what was delivered.
    broker = await Broker(agent, messageDelayLevel="1s 2s").start()
    await broker.send(40, b"m", properties={"DELAY": "1"})
    while (await broker.ends())[1] == 0:
        await broker.send(1, b"tick", topic="other")

    await broker.go_on("kill")
    await broker.send(1, b"last", properties={"DELAY": "1"})
    while (await broker.all_of())[-1] != b"last0":
        await broker.send(1, b"tick", topic="other")

    assert await broker.all_of() == [b"m%d" % number for number in range(40)] + [b"last0"]


async def test_files_that_were_written_without_the_log_are_believed(agent):
    """A broker of stock served the store meanwhile: it deleted a topic, and moved an offset."""
    # Case A6, case A7.
    broker = await Broker(agent).start()
    await broker.send(5, b"old")
    await broker.send(5, b"kept", topic="K")
    await broker.client.heartbeat("g", "T")
    await broker.commit(4)
    agent.stop()
    config = agent.root / "store" / "config"
    for name in ("topics.json", "consumerOffset.json"):
        content = json.loads((config / name).read_bytes())
        del content["isInLog"], content["logPosition"]
        content.get("topicConfigTable", {}).pop("T", None)
        content.get("offsetTable", {}).pop("T@g", None)
        content.get("offsetTable", {})["K@g"] = {"0": 3}
        (config / name).write_text(json.dumps(content))

    await broker.start()
    known = await broker.knows(RequestCode.GET_TOPIC_CONFIG, topic="T")
    await broker.go_on("kill")

    assert not known
    fields = QUEUE | {"topic": "K"}
    assert (await broker.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)).ext["offset"] == "3"
    assert await broker.ends("K") == (0, 5)
    await broker.create()
    assert await broker.ends() == (0, 0)
    assert await broker.committed() is None


async def test_the_files_are_those_of_stock_after_a_stop(agent):
    broker = await Broker(agent).start()
    await broker.send(5, b"m")
    await broker.client.heartbeat("g", "T")
    await broker.commit(4)

    agent.stop()

    config = agent.root / "store" / "config"
    topics = json.loads((config / "topics.json").read_bytes())["topicConfigTable"]
    groups = json.loads((config / "subscriptionGroup.json").read_bytes())
    offsets = json.loads((config / "consumerOffset.json").read_bytes())["offsetTable"]
    assert {"T", retry_topic("g"), "TBW102"} <= topics.keys()
    assert "g" in groups["subscriptionGroupTable"]
    assert offsets == {"T@g": {"0": 4}}


async def test_a_broker_that_was_asked_for_nothing_writes_no_record(agent):
    await agent.start()
    agent.stop()

    assert not (agent.root / "store" / "consumequeue").exists() or not list(
        (agent.root / "store" / "consumequeue").iterdir()
    )


def records(server):
    """Every record of state in the log, with its size there."""
    low, end = server.store.held_offsets(STATE_TOPIC, 0) or (0, 0)
    entries = server.store.held_entries(STATE_TOPIC, 0, low, end - low)
    contents = [(server.store.held_record(at), size) for at, size, _ in entries]
    return [(decode_state(decode_records(content)[0].body), size) for content, size in contents]


@pytest.mark.parametrize("count", [10, 1000])
async def test_one_change_is_one_item_in_the_log_however_many_there_are(
    start_broker, connect, count
):
    # Case A11.
    server = await start_broker()
    client = await connect(server)
    made = [
        client.start(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields(f"T{number}"))
        for number in range(count)
    ]
    for one in made:
        assert (await one).code == 0
    await client.heartbeat("g", "T1")
    assert (await client.send("T7", b"m")).code == 0
    before = len(records(server))

    fields = create_fields("T7", readQueueNums=2)
    assert (await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)).code == 0
    group = java_json.encode({"groupName": "made"})
    await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=group)
    await client.call(
        RequestCode.UPDATE_CONSUMER_OFFSET, QUEUE | {"topic": "T7", "commitOffset": 1}
    )
    await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T8"})

    written = records(server)[before:]
    assert [list(record.topics) for record, _ in written] == [["T7"], [], [], ["T8"]]
    assert [list(record.groups) for record, _ in written] == [[], ["made"], [], []]
    assert [dict(record.offsets) for record, _ in written] == [{}, {}, {"T7@g": {0: 1}}, {}]
    assert not any(record.is_snapshot for record, _ in written)
    assert max(size for _, size in written) < 1024


@pytest.mark.parametrize("end", few(["stop", "kill"], 1))
async def test_messages_of_a_removed_level_are_delivered_when_they_are_due(agent, end):
    # Case A8.
    broker = await Broker(agent, messageDelayLevel="1s 4s 5s").start()
    await broker.client.send("T", b"second", properties={"DELAY": "2"})
    await broker.client.send("T", b"third", properties={"DELAY": "3"})
    sent_at = time.time()
    broker.settings["messageDelayLevel"] = "1s"

    await broker.go_on(end)
    told = agent.events("removed_levels_served")
    pulled = await broker.client.pull("T", sysFlag=6)
    waited = time.time() - sent_at

    assert "messageDelayLevel" in told[0]
    assert bodies(pulled) == [b"second"]
    assert waited >= 3.5
    assert bodies(await broker.client.pull("T", queueOffset=1, sysFlag=6)) == [b"third"]


async def test_a_message_keeps_its_due_time_when_its_level_becomes_shorter(agent):
    # Case A8.
    broker = await Broker(agent, messageDelayLevel="1s 1h").start()
    await broker.client.send("T", b"later", properties={"DELAY": "2"})
    broker.settings["messageDelayLevel"] = "1s 2s"

    await broker.go_on("stop")
    await broker.client.send("T", b"soon", properties={"DELAY": "1"})
    pulled = await broker.client.pull("T", sysFlag=6)

    assert bodies(pulled) == [b"soon"]
    assert await broker.ends() == (0, 1)
