import asyncio
import struct

import pytest
from regent_engine import (
    encode_command,
    encode_properties,
    parse_offset_message_id,
    special_properties,
)

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, messages, send_fields
from tests.integration.broker.slow_disk import SlowDisk
from tests.waiting import PATIENCE_S, eventually
from workers.broker.server import BrokerServer


async def test_a_first_send_creates_the_topic_with_the_wished_queues(client):
    sent = await client.send("First", b"hello", queue_id=3)

    config = await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "First"})
    assert (sent.code, sent.ext["queueId"], sent.ext["queueOffset"]) == (0, "3", "0")
    assert java_json.loads(config.body)["writeQueueNums"] == 4
    assert java_json.loads(config.body)["perm"] == 6


async def test_a_send_with_long_names_is_stored_like_one_with_short_names(client):
    fields = {
        "producerGroup": "pg",
        "topic": "Long",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 1,
        "sysFlag": 0,
        "bornTimestamp": 1,
        "flag": 7,
        "properties": "TAGS\x01A\x02",
    }

    created = await client.call(RequestCode.SEND_MESSAGE, fields, b"one")
    again = await client.call(RequestCode.SEND_MESSAGE, fields, b"two")

    pulled = await client.pull("Long", queueId=1)
    assert [created.code, again.code] == [0, 0]
    assert bodies(pulled) == [b"one", b"two"]
    assert {record.flag for record in messages(pulled)} == {7}


async def test_the_answer_names_a_message_that_33_finds(broker, client):
    sent = await client.send("Find", b"me", properties={"UNIQ_KEY": "K1", "KEYS": "k"})

    host, port, position = parse_offset_message_id(sent.ext["msgId"])
    seen = await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": position})
    missing = await client.call(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": position + 1})

    assert (host, port, sent.ext["transactionId"]) == ("127.0.0.1", broker.port, "K1")
    assert messages(seen)[0].properties["KEYS"] == "k"
    assert missing.code == 1


async def test_a_batch_to_a_new_topic_is_stored_in_order(client):
    body = b"".join(batch_entry(text, {"TAGS": "T"}) for text in (b"a", b"b", b"c"))

    fields = send_fields("Batch") | {"m": "true"}
    sent = await client.call(RequestCode.SEND_BATCH_MESSAGE, fields, body)

    assert sent.code == 0
    assert len(sent.ext["msgId"].split(",")) == 3
    assert bodies(await client.pull("Batch")) == [b"a", b"b", b"c"]


async def test_a_malformed_batch_creates_no_topic(broker, client):
    fields = send_fields("BadBatch") | {"m": "true"}

    sent = await client.call(RequestCode.SEND_BATCH_MESSAGE, fields, b"\0\0\0\x05rubbish")

    assert sent.code == 13
    assert broker.broker.topics.find("BadBatch") is None


async def test_a_one_way_send_is_stored_and_never_answered(client):
    await client.send("OneWay", b"first")

    client.notify(RequestCode.SEND_MESSAGE_V2, send_fields("OneWay"), b"second")
    client.notify(RequestCode.SEND_MESSAGE_V2, send_fields("no/such"), b"refused")
    last = await client.send("OneWay", b"third")

    assert last.ext["queueOffset"] == "2"
    assert bodies(await client.pull("OneWay")) == [b"first", b"second", b"third"]


async def test_the_answer_comes_in_the_encoding_of_the_request(client):
    frame = encode_command(
        code=RequestCode.SEND_MESSAGE_V2,
        opaque=77,
        ext={name: str(value) for name, value in send_fields("Binary").items()},
        body=b"x",
        encoding="rocketmq",
    )
    answer = asyncio.get_running_loop().create_future()
    client.peer._pending[77] = answer

    client.writer.write(frame)

    sent = await asyncio.wait_for(answer, PATIENCE_S)
    assert (sent.encoding, sent.code, sent.version) == ("rocketmq", 0, 513)


async def test_a_delayed_message_arrives_after_its_level(client):
    await client.send("Late", b"now")
    pull = client.start_pull("Late", queueOffset=1, sysFlag=6)

    sent = await client.send("Late", b"later", properties={"DELAY": "1", "TAGS": "A"})

    pulled = await pull
    record = messages(pulled)[0]
    stored_late_ms = record.store_timestamp_ms - record.born_timestamp_ms
    assert sent.code == 0
    assert record.body == b"later"
    assert (record.topic, record.properties["REAL_TOPIC"]) == ("Late", "Late")
    assert record.properties["DELAY"] == "1"
    assert stored_late_ms > 0


async def test_a_delay_level_beyond_the_last_is_capped(broker, client):
    await client.send("Capped", b"x", properties={"DELAY": "99"})

    assert broker.store.offsets("SCHEDULE_TOPIC_XXXX", 5) == (0, 1)


async def test_sync_flush_answers_only_what_is_on_disk(start_broker, connect):
    server: BrokerServer = await start_broker(flushDiskType="SYNC_FLUSH")
    client = await connect(server)
    await client.send("Sync", b"create")

    sent = [client.send("Sync", b"%d" % number) for number in range(20)]
    answers = [await one for one in sent]

    assert {answer.code for answer in answers} == {0}
    _, _, position = parse_offset_message_id(answers[-1].ext["msgId"])
    assert server.store.flushed_position > position


async def test_a_producer_that_waits_too_long_for_the_disk_learns_that_the_message_is_stored(
    start_broker, connect, monkeypatch
):
    server: BrokerServer = await start_broker(flushDiskType="SYNC_FLUSH", syncFlushTimeout="50")
    client = await connect(server)
    disk = SlowDisk(server.store, "flush")
    monkeypatch.setattr(server.broker.flusher, "_store", disk)

    created = await client.send("Slow", b"a", properties={"UNIQ_KEY": "K"})
    hot = await client.send("Slow", b"b", properties={"UNIQ_KEY": "K"})
    delayed = await client.send("Slow", b"c", properties={"UNIQ_KEY": "K", "DELAY": "1"})

    sent = (created, hot, delayed)
    assert [answer.code for answer in sent] == [10] * 3
    assert created.ext.keys() == hot.ext.keys() == delayed.ext.keys()
    assert [answer.ext["queueOffset"] for answer in (created, hot)] == ["0", "1"]
    assert {answer.ext["transactionId"] for answer in sent} == {"K"}
    disk.may_answer.set()


async def test_clients_are_asked_not_to_trace_whatever_way_their_messages_go(start_broker, connect):
    client = await connect(await start_broker(traceOn="false"))

    created = await client.send("Untraced", b"a")
    hot = await client.send("Untraced", b"b")
    delayed = await client.send("Untraced", b"c", properties={"DELAY": "1"})

    stored = messages(await client.pull("Untraced"))
    assert [answer.ext["TRACE_ON"] for answer in (created, hot, delayed)] == ["false"] * 3
    assert [record.properties["TRACE_ON"] for record in stored] == ["false"] * 2


@pytest.mark.parametrize("name", special_properties())
async def test_what_the_engine_calls_special_is_stored_or_refused_with_a_reason(client, name):
    await client.send("Special", b"plain")

    sent = await client.send("Special", b"x", properties={name: "1"})

    assert sent.code == 0 or "timer" in sent.remark or "inner batch" in sent.remark


@pytest.mark.parametrize(
    "name",
    ["TIMER_OUT_MS", "TIMER_OF_MINE", "INNER_BASE", "INNER_MULTI_DISPATCH"],
)
async def test_a_property_that_means_nothing_here_is_stored_like_any_other(client, name):
    created = await client.send("Plain", b"new", properties={name: "3"})
    sent = await client.send("Plain", b"known", properties={name: "3"})

    stored = messages(await client.pull("Plain"))
    assert [created.code, sent.code] == [0, 0]
    assert [record.properties[name] for record in stored] == ["3", "3"]


@pytest.mark.parametrize("flag", [4, 8, 12, 64, 128])
async def test_a_part_of_a_transaction_or_an_inner_batch_is_refused_by_name(client, flag):
    await client.send("Flagged", b"plain")

    sent = await client.send("Flagged", b"x", f=flag)

    assert (sent.code, f"sysFlag {flag}" in sent.remark) == (13, True)


REFUSED_PROPERTIES = [
    *({"DELAY": text} for text in ("abc", "1.5", "99999999999", "0x2", "1 ", "\0")),
    {"DELAY": "abc", "TIMER_DELAY_SEC": "5"},
    {"INNER_NUM": "2"},
]


@pytest.mark.parametrize("properties", REFUSED_PROPERTIES, ids=str)
@pytest.mark.parametrize("topic", ["known", "new"])
async def test_a_message_with_a_property_that_cannot_be_right_is_refused(
    broker, client, topic, properties
):
    # Case A12: stock refuses these too, the first with the code 1.
    await client.send("known", b"creates the topic")

    refused = await client.send(topic, b"x", properties=properties)

    assert refused.code == 13
    assert next(iter(properties)) in refused.remark
    assert broker.store.offsets("known", 0) == (0, 1)
    assert broker.broker.topics.find("new") is None


@pytest.mark.parametrize(
    "text",
    [
        "DELAY\x01\x02KEYS\x01k\x02",
        "KEYS\x01k\x02DELAY\x01",
        "DELAY\x02",
        "TIMER_DELAY_SEC\x01\x02",
        "TRAN_MSG\x01",
        "KEYS\x01k\x02INNER_NUM",
    ],
)
@pytest.mark.parametrize("topic", ["known", "new"])
async def test_a_delay_a_timer_or_a_transaction_without_a_value_is_refused(client, topic, text):
    # Case A12: without its value the property would be dropped.
    await client.send("known", b"creates the topic")

    refused = await client.call(
        RequestCode.SEND_MESSAGE_V2, send_fields(topic, properties=text), b"x"
    )

    assert refused.code == 13
    assert "has no value" in refused.remark


@pytest.mark.parametrize(
    "text", ["\x02\x02", "\x01", "KEYS", "KEYS\x01", "\x01v\x02", "a\x01b\x01c\x02", "K\x01\0\x02"]
)
async def test_other_odd_properties_are_taken_as_stock_takes_them(client, text):
    # Case A12: what has no name or no value is left out.
    await client.send("known", b"creates the topic")

    taken = await client.call(
        RequestCode.SEND_MESSAGE_V2, send_fields("known", properties=text), b"x"
    )

    assert taken.code == 0


@pytest.mark.parametrize(
    "properties",
    [
        {"DELAY": "2"},
        {"DELAY": "abc"},
        {"TIMER_DELAY_MS": "5"},
        {"TIMER_DELIVER_MS": "5"},
        {"TRAN_MSG": "true"},
        {"INNER_NUM": "2"},
        {"DELAY": ""},
        {"TIMER_DELIVER_MS": ""},
    ],
    ids=str,
)
@pytest.mark.parametrize("topic", ["known", "new"])
async def test_no_message_of_a_batch_is_special(broker, client, topic, properties):
    # Case A12: it would be delivered at once.
    await client.send("known", b"creates the topic")
    body = batch_entry(b"a", {"TAGS": "T"}) + batch_entry(b"b", properties)

    refused = await client.call(
        RequestCode.SEND_BATCH_MESSAGE, send_fields(topic) | {"m": "true"}, body
    )

    (name,) = properties
    assert refused.code == 13
    assert name in refused.remark
    assert broker.store.offsets("known", 0) == (0, 1)


@pytest.mark.parametrize("properties", [{"DELAY": "0"}, {"DELAY": "-1"}, {"TRAN_MSG": "false"}])
async def test_a_batch_takes_values_that_make_no_message_special(client, properties):
    # Case A12: stock's brokers themselves give dead letters the level -1.
    await client.send("known", b"creates the topic")

    taken = await client.call(
        RequestCode.SEND_BATCH_MESSAGE,
        send_fields("known") | {"m": "true"},
        batch_entry(b"a", properties),
    )

    assert taken.code == 0


def batch_entry(body: bytes, properties: dict[str, str]) -> bytes:
    text = encode_properties(properties)
    inner = struct.pack(">iii", 0, 0, 0) + struct.pack(">i", len(body)) + body
    inner += struct.pack(">h", len(text)) + text
    return struct.pack(">i", len(inner) + 4) + inner


async def test_first_sends_to_queues_are_stored_in_the_order_of_their_connection(client):
    await client.send("T", b"create")

    sends = [
        client.start(RequestCode.SEND_MESSAGE_V2, send_fields("T", queue_id=number % 4), b"x")
        for number in range(200)
    ]
    answers = await asyncio.gather(*sends)

    assert {answer.code for answer in answers} == {0}
    for queue_id, first in enumerate((1, 0, 0, 0)):
        offsets = [int(answer.ext["queueOffset"]) for answer in answers[queue_id::4]]
        assert offsets == list(range(first, first + 50))


class LateFiles:
    """Makes files of queues once it is allowed to."""

    def __init__(self, broker: BrokerServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.allowed = asyncio.Event(), asyncio.Event()
        self._run = broker.broker.file_thread.run
        monkeypatch.setattr(broker.broker.file_thread, "run", self.run)

    async def run(self, make):
        self.asked.set()
        await self.allowed.wait()
        await self._run(make)


async def test_a_client_does_not_wait_for_the_file_of_another_clients_queue(
    broker, connect, monkeypatch
):
    client, other = await connect(broker), await connect(broker)
    await client.send("T", b"create")
    files = LateFiles(broker, monkeypatch)

    first, second, third = (
        client.start(RequestCode.SEND_MESSAGE_V2, send_fields("T", queue_id=queue_id), b"x")
        for queue_id in (1, 1, 0)
    )
    await asyncio.wait_for(files.asked.wait(), PATIENCE_S)
    meanwhile = await other.send("T", b"x")

    assert (meanwhile.code, meanwhile.ext["queueOffset"]) == (0, "1")
    assert not any(sent.done() for sent in (first, second, third))
    files.allowed.set()
    offsets = [(await sent).ext["queueOffset"] for sent in (first, second, third)]
    assert offsets == ["0", "1", "2"]


async def test_what_a_client_sent_before_it_left_is_stored_though_a_file_must_be_made(
    broker, connect, monkeypatch
):
    client, other = await connect(broker), await connect(broker)
    await other.send("T", b"create")
    files = LateFiles(broker, monkeypatch)

    for queue_id in (1, 2, 1):
        client.notify(RequestCode.SEND_MESSAGE_V2, send_fields("T", queue_id=queue_id), b"x")
    await asyncio.wait_for(files.asked.wait(), PATIENCE_S)
    await client.close()
    files.allowed.set()

    store = broker.broker.store
    await eventually(lambda: store.offsets("T", 1) == (0, 2))
    assert store.offsets("T", 2) == (0, 1)


@pytest.mark.parametrize(
    ("properties", "queue_id", "kept"),
    [
        ({}, 2, "2"),
        ({"_SYS_MSG_PRIORITY_": "99"}, 3, "99"),
        ({"_SYS_MSG_PRIORITY_": "2147483647"}, 3, "2147483647"),
        ({"_SYS_MSG_PRIORITY_": "2147483648"}, 1, "2147483648"),
        ({"_SYS_MSG_PRIORITY_": "-1"}, 1, "-1"),
        ({"_SYS_MSG_PRIORITY_": "high"}, 1, "high"),
        ({"__SHARDINGKEY": "a"}, 1, None),
    ],
)
async def test_a_priority_is_the_queue_of_its_message_up_to_the_last_one(
    client, properties, queue_id, kept
):
    # RocketMQ's PopPriorityIT: a producer chooses a queue, and the broker another one.
    sent = await client.send(
        "T", b"x", queue_id=1, properties={"_SYS_MSG_PRIORITY_": "2"} | properties
    )

    assert (sent.code, sent.ext["queueId"]) == (0, str(queue_id))
    (found,) = messages(await client.pull("T", queueId=queue_id))
    assert found.properties.get("_SYS_MSG_PRIORITY_") == kept
