import json
from pathlib import Path

import pytest
from regent_engine import StoreError, decode_records

from backend.remoting import java_json
from backend.remoting.bodies import TopicConfigTable
from backend.remoting.names import STATE_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.sample import BrokerSample
from tests.integration.broker.test_bad_input import create_fields
from workers.broker.metrics.resources import Disk, StoreDisks, store_disks_of
from workers.broker.processors import inspection
from workers.broker.replication.state_record import decode_state

CREATE = RequestCode.UPDATE_AND_CREATE_TOPIC


async def test_a_created_topic_is_shown_and_its_version_moves(client, broker):
    version = broker.broker.topics.data_version

    typed = create_fields("T", readQueueNums=2, attributes="+message.type=FIFO")
    created = await client.call(CREATE, typed)
    again = await client.call(CREATE, create_fields("T", readQueueNums=2))

    shown = await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "T"})
    assert (created.code, again.code) == (0, 0)
    assert broker.broker.topics.data_version.counter == version.counter + 1
    assert json.loads(shown.body) == {
        "attributes": {"message.type": "FIFO"},
        "order": False,
        "perm": 6,
        "readQueueNums": 2,
        "topicFilterType": "SINGLE_TAG",
        "topicName": "T",
        "topicSysFlag": 0,
        "writeQueueNums": 4,
    }


@pytest.mark.parametrize(
    ("name", "attributes", "reason"),
    [
        ("Batches", "+queue.type=BatchCQ", "queue.type can't be 'BatchCQ': only RocketMQ brokers"),
        ("%LMQ%light", "", "begins with %LMQ%: only RocketMQ brokers serve light queues"),
    ],
)
async def test_topics_of_kinds_that_only_stock_serves_are_refused_by_name(
    client, name, attributes, reason
):
    created = await client.call(CREATE, create_fields(name, attributes=attributes))
    sent = await client.send("%LMQ%light", b"x")

    shown = await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": name})
    assert reason in created.remark
    assert (created.code, sent.code, shown.code) == (29, 29, 17)


async def test_a_topic_of_a_broker_without_a_controller_is_not_shared_by_members(client, broker):
    primary = await client.call(CREATE, create_fields("T", attributes="+share.mode=PRIMARY"))

    shared = await client.call(CREATE, create_fields("T", attributes="+share.mode=SHARED"))

    assert (primary.code, shared.code) == (0, 29)
    assert "share.mode of T can't be SHARED: without a controller" in shared.remark
    assert "set enableControllerMode and controllerAddr" in shared.remark
    assert broker.broker.topics.find("T").attributes == {"share.mode": "PRIMARY"}


async def test_a_created_topic_is_on_disk_before_the_answer(client, broker):
    await client.call(CREATE, create_fields("T"))

    # What the log holds of it: the file follows later.
    _, end = broker.store.held_offsets(STATE_TOPIC, 0)
    ((position, size, _),) = broker.store.held_entries(STATE_TOPIC, 0, end - 1, 1)
    (record,) = decode_records(broker.store.held_record(position))
    assert "T" in decode_state(record.body).topics
    assert broker.store.flushed_position >= position + size


async def test_system_topics_may_not_be_created_or_deleted(client):
    listed = await client.call(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
    names = json.loads(listed.body)["topicList"]

    codes = set()
    for name in [*names, "rmq_sys_anything"]:
        codes.add((await client.call(CREATE, create_fields(name))).code)
        codes.add((await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": name})).code)

    assert {"TBW102", "TestCluster", "broker-t", "TestCluster_REPLY_TOPIC"} <= set(names)
    assert codes == {29}


async def test_the_topics_of_a_fresh_broker_are_those_that_clients_need(client):
    answer = await client.call(RequestCode.GET_ALL_TOPIC_CONFIG)

    table = java_json.decode(answer.body, TopicConfigTable).topics
    layout = {name: (topic.write_queue_count, topic.permissions) for name, topic in table.items()}
    assert layout == {
        "TBW102": (8, 7),
        "TestCluster_REPLY_TOPIC": (1, 6),
        "SELF_TEST_TOPIC": (1, 6),
        "TestCluster": (16, 7),
        "broker-t": (1, 7),
        "BenchmarkTest": (1024, 6),
        "SCHEDULE_TOPIC_XXXX": (18, 6),
        "OFFSET_MOVED_EVENT": (1, 6),
        "rmq_sys_wheel_timer": (1, 6),
    }


async def test_nothing_is_created_on_first_send_when_that_is_off(start_broker, connect):
    server = await start_broker(autoCreateTopicEnable="false")
    client = await connect(server)

    refused = await client.send("T", b"x")
    await client.call(CREATE, create_fields("T"))
    accepted = await client.send("T", b"x")

    assert (refused.code, accepted.code) == (17, 0)


async def test_a_deleted_topic_loses_its_messages_and_offsets(client, broker):
    await client.send("T", b"old")
    await client.heartbeat("g", "T")
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 0}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 1})

    deleted = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
    absent = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "Never"})
    gone = await client.pull("T")
    await client.send("T", b"new")

    assert (deleted.code, absent.code, gone.code) == (0, 0, 17)
    assert broker.broker.offsets.find("g", "T", 0) is None
    assert (await client.pull("T")).body.count(b"new") == 1


class RefusingStore:
    """A store whose queues the disk does not delete."""

    def __init__(self, store):
        self._store = store
        self.refuses = True

    def __getattr__(self, name):
        return getattr(self._store, name)

    def delete_topic(self, topic, *, before):
        if not self.refuses:
            self._store.delete_topic(topic, before=before)
            return
        error = StoreError("the disk refused")
        error.code = "io"
        raise error


async def test_a_topic_whose_queues_cannot_be_removed_is_not_made_again_before_they_are(
    client, broker, monkeypatch
):
    await client.send("T", b"old")
    store = RefusingStore(broker.store)
    monkeypatch.setattr(broker.broker.shared.deletions, "_store", store)

    deleted = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
    refused = await client.call(CREATE, create_fields("T"))
    store.refuses = False
    made = await client.call(CREATE, create_fields("T"))

    assert (deleted.code, refused.code, made.code) == (0, 2, 0)
    assert "is being deleted" in refused.remark
    assert broker.store.offsets("T", 0) is None


async def test_topic_stats_show_the_ends_of_every_queue(client):
    await client.send("T", b"x", queue_id=1)

    answer = await client.call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": "T"})
    unknown = await client.call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": "U"})

    table = java_json.loads(answer.body)["offsetTable"]
    ends = {
        json.loads(key)["queueId"]: (one["minOffset"], one["maxOffset"])
        for key, one in table.items()
    }
    assert ends == {0: (0, 0), 1: (0, 1), 2: (0, 0), 3: (0, 0)}
    assert answer.body.startswith(b'{"offsetTable":{{"brokerName":"broker-t","queueId":0,')
    assert unknown.code == 17


async def test_consume_stats_show_how_far_a_group_is(client):
    for _ in range(3):
        await client.send("T", b"x")
    await client.heartbeat("g", "T")
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 0}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 2})

    named = await client.call(RequestCode.GET_CONSUME_STATS, {"consumerGroup": "g", "topic": "T"})
    all_of_them = await client.call(RequestCode.GET_CONSUME_STATS, {"consumerGroup": "g"})
    unknown = await client.call(
        RequestCode.GET_CONSUME_STATS, {"consumerGroup": "g", "topicList": "U;V"}
    )

    progress = next(iter(java_json.loads(named.body)["offsetTable"].values()))
    assert (progress["brokerOffset"], progress["consumerOffset"]) == (3, 2)
    assert progress["lastTimestamp"] > 0
    assert all_of_them.body == named.body
    assert java_json.loads(unknown.body)["offsetTable"] == {}


async def test_consume_stats_hold_a_topic_once_however_often_it_is_named(client):
    await client.send("T", b"x")
    await client.heartbeat("g", "T")

    once = await client.call(
        RequestCode.GET_CONSUME_STATS, {"consumerGroup": "g", "topicList": "T"}
    )
    often = await client.call(
        RequestCode.GET_CONSUME_STATS, {"consumerGroup": "g", "topicList": "T;" * 1000}
    )

    assert len(java_json.loads(once.body)["offsetTable"]) == 4
    assert often.body == once.body


async def test_time_spans_give_how_old_the_first_unread_message_is(client, broker):
    sent = [await client.send("T", b"x") for _ in range(3)]
    assert [one.code for one in sent] == [0, 0, 0]
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 0}
    await client.heartbeat("g", "T")
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 2})

    async def span(group):
        fields = {"topic": "T", "group": group}
        told = await client.call(RequestCode.QUERY_CONSUME_TIME_SPAN, fields)
        spans = java_json.loads(told.body)["consumeTimeSpanSet"]
        return {one["messageQueue"]["queueId"]: one for one in spans}

    stored = [broker.store.store_timestamp("T", 0, offset) for offset in range(3)]
    before_ms = broker.broker.clock()
    behind, empty = (await span("g"))[0], (await span("g"))[1]
    after_ms = broker.broker.clock()
    never = (await span("nobody"))[0]
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 3})
    done = (await span("g"))[0]
    unknown = await client.call(
        RequestCode.QUERY_CONSUME_TIME_SPAN, {"topic": "none", "group": "g"}
    )

    assert (behind["minTimeStamp"], behind["maxTimeStamp"]) == (stored[0], stored[2])
    assert behind["consumeTimeStamp"] == stored[1]
    assert before_ms - stored[2] <= behind["delayTime"] <= after_ms - stored[2]
    assert never["delayTime"] >= behind["delayTime"]
    assert done["delayTime"] == 0
    assert (empty["minTimeStamp"], empty["delayTime"]) == (-1, 0)
    assert unknown.code == 17


async def test_a_group_is_created_shown_and_listed(client):
    body = b'{"groupName":"g2","retryMaxTimes":3}'

    created = await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)
    shown = await client.call(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "g2"})
    unknown = await client.call(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, {"group": "g3"})
    listed = await client.call(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)

    assert (created.code, unknown.code) == (0, 26)
    assert json.loads(shown.body)["retryMaxTimes"] == 3
    assert {"g2", "TOOLS_CONSUMER"} <= set(json.loads(listed.body)["subscriptionGroupTable"])


async def test_a_group_with_more_retry_queues_than_a_topic_may_have_is_refused(client):
    group = b'{"groupName":"orders","retryQueueNums":%d}'

    answers = [
        await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=group % count)
        for count in (65_535, 65_536, 2_147_483_647)
    ]

    assert [answer.code for answer in answers] == [0, 29, 29]


async def test_settings_and_figures_are_shown(client):
    await client.send("T", b"x")

    config = (await client.call(RequestCode.GET_BROKER_CONFIG)).body.decode()
    info = json.loads((await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)).body)["table"]

    assert "brokerName=broker-t\n" in config
    assert "flushDiskType=ASYNC_FLUSH\n" in config
    assert "messageDelayLevel=1s 1s 1s 1s 1s 2s\n" in config
    assert info["brokerActive"] == "true"
    assert len(info["getTotalTps"].split(" ")) == 3
    assert int(info["msgPutTotalTodayNow"]) == 1


async def test_a_sample_counts_what_went_in_and_out(broker, client):
    for _ in range(3):
        await client.send("T", b"x" * 100)
    await client.pull("T")

    answer = await client.call(RequestCode.GET_BROKER_SAMPLE)

    sample = java_json.decode(answer.body, BrokerSample)
    topic = next(one for one in sample.topics if one.name == "T")
    assert (sample.cluster_name, sample.broker_name) == ("TestCluster", "broker-t")
    assert sample.broker_id == sample.own_id == 0
    assert (sample.messages_in, sample.messages_out) == (3, 3)
    assert sample.bytes_in == sample.bytes_out
    # The log holds besides which topics there are.
    assert 0 < sample.bytes_in < sample.commit_log_max_position
    assert (topic.messages_in, topic.queues[0].max_offset) == (3, 3)
    assert 0 < sample.disk_free_bytes <= sample.disk_total_bytes
    # The disk is in use by others meanwhile.
    shown_percent = 100 * (1 - sample.disk_free_bytes / sample.disk_total_bytes)
    assert abs(shown_percent - store_disks_of(broker.settings).fuller.used_percent) < 2
    assert sample.resident_bytes > 0


async def test_a_lone_broker_reports_how_it_is_replicated(broker, client):
    # Case C5: as a stock broker without a controller.
    await client.send("T", b"x")

    answer = await client.call(RequestCode.GET_BROKER_HA_STATUS)

    told = json.loads(answer.body)
    assert answer.code == 0
    assert (told["master"], told["inSyncSlaveNums"], told["haConnectionInfo"]) == (True, 0, [])
    assert told["masterCommitLogMaxOffset"] == broker.store.max_position
    assert told["haClientRuntimeInfo"]["masterAddr"] == f"127.0.0.1:{broker.port}"


async def test_the_share_of_a_disk_is_the_one_that_retention_acts_on(client, monkeypatch):
    # Case C4: a file system that keeps much of its room for root.
    disk = Disk(Path("store"), total_bytes=1000 << 30, used_bytes=90 << 30, free_bytes=270 << 30)
    monkeypatch.setattr(inspection, "store_disks_of", lambda _: StoreDisks(disk, disk))

    info = json.loads((await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)).body)["table"]
    sampled = await client.call(RequestCode.GET_BROKER_SAMPLE)

    sample = java_json.decode(sampled.body, BrokerSample)
    used = 1 - sample.disk_free_bytes / sample.disk_total_bytes
    assert disk.used_percent == 25
    assert info["commitLogDiskRatio"] == info["consumeQueueDiskRatio"] == "0.25"
    assert used == 0.25
    assert info["commitLogDirCapacity"] == "Total : 360.0 GiB, Free : 270.0 GiB."
