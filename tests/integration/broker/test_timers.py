"""Messages that wait for a time: their producers, their consumers, and the ends of their broker."""

import base64
import struct
import time

import pytest

from backend.remoting import java_json
from backend.remoting.names import TIMER_TOPIC
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, messages
from tests.integration.broker.test_lone_state import Broker
from tests.waiting import eventually

HELD = {"sysFlag": 6}
"""A pull that waits for messages."""


def now_ms():
    return time.time_ns() // 1_000_000


@pytest.fixture
def quick():
    """Settings with which a message waits a tenth of a second at most for its slot to end."""
    return {"timerPrecisionMs": "100"}


async def waiting(client, count):
    """Wait until the wheel holds some messages, and return the figures of the broker."""

    async def figures():
        seen = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
        table = java_json.loads(seen.body)["table"]
        return table if table["timerCongestNum"] == str(count) else None

    return await eventually(figures)


@pytest.mark.parametrize("name", ["TIMER_DELAY_MS", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS"])
async def test_a_message_is_delivered_at_its_time_and_not_before(agent, quick, name):
    client = await agent.start(**quick)
    sent_ms = now_ms()
    due_ms = sent_ms + 1000
    value = {"TIMER_DELAY_MS": 1000, "TIMER_DELAY_SEC": 1, "TIMER_DELIVER_MS": due_ms}[name]

    sent = await client.send("T", b"m", properties={name: str(value), "UNIQ_KEY": "K"}, queue_id=2)
    pulled = await client.pull("T", queueId=2, **HELD)

    (message,) = messages(pulled)
    assert (sent.code, message.body) == (0, b"m")
    assert due_ms <= message.store_timestamp_ms <= due_ms + 1100
    handle = base64.urlsafe_b64decode(sent.ext["recallHandle"]).decode().split(" ")
    slot_ms = int(message.properties["TIMER_OUT_MS"])
    assert handle == ["v1", "T", "broker-t", str(slot_ms + 1), "K"]
    assert (message.properties["REAL_TOPIC"], message.properties["REAL_QID"]) == ("T", "2")


async def test_a_waiting_message_is_stored_as_by_stock(agent):
    client = await agent.start()
    due_ms = now_ms() + 3_600_000

    await client.send("T", b"m", properties={"TIMER_DELIVER_MS": str(due_ms), "TAGS": "A"})

    (message,) = messages(await client.pull(TIMER_TOPIC))
    assert message.queue_id == 0
    assert message.properties["TIMER_OUT_MS"] == str((due_ms - 1) // 1000 * 1000)
    assert message.properties["TIMER_DELIVER_MS"] == str(due_ms)
    assert (message.properties["TAGS"], message.properties["REAL_TOPIC"]) == ("A", "T")


async def test_a_message_whose_time_has_passed_is_delivered_at_once(agent):
    client = await agent.start()

    sent = await client.send("T", b"m", properties={"TIMER_DELIVER_MS": "10"})

    (message,) = messages(await client.pull("T"))
    assert "TIMER_OUT_MS" not in message.properties
    assert "recallHandle" not in sent.ext


async def test_a_recalled_message_is_not_delivered(agent, quick):
    client = await agent.start(recallMessageEnable="true", **quick)
    at = {"TIMER_DELAY_MS": "1000", "UNIQ_KEY": "K"}
    sent = await client.send("T", b"recalled", properties=at)
    await client.send("T", b"kept", properties={"TIMER_DELAY_MS": "1200"})
    handle = {"topic": "T", "recallHandle": sent.ext["recallHandle"]}

    recalled = await client.call(RequestCode.RECALL_MESSAGE, handle)
    wrong = await client.call(RequestCode.RECALL_MESSAGE, handle | {"recallHandle": "djEgVA=="})
    pulled = await client.pull("T", **HELD)
    late = await client.call(RequestCode.RECALL_MESSAGE, handle)

    assert (recalled.code, recalled.ext["msgId"]) == (0, "K")
    assert bodies(pulled) == [b"kept"]
    assert (wrong.code, late.code) == (604, 604)


async def test_messages_are_not_recalled_by_default(agent):
    client = await agent.start()

    refused = await client.call(RequestCode.RECALL_MESSAGE, {"topic": "T", "recallHandle": "x"})

    assert refused.code == 16


async def test_operators_see_how_many_messages_wait_and_when_they_are_due(agent):
    client = await agent.start()
    hour_ms = (now_ms() // 3_600_000 + 2) * 3_600_000
    for _ in range(3):
        await client.send("T", b"m", properties={"TIMER_DELIVER_MS": str(hour_ms + 5000)})

    table = await waiting(client, 3)

    assert table["timersByHour"] == f"{hour_ms}:3"
    assert (table["timerReadBehind"], table["timerOffsetBehind"]) in {("0", "0"), ("1", "0")}


async def test_operators_see_waiting_messages_by_minute_hour_and_topic(agent):
    client = await agent.start(recallMessageEnable="true")
    minute_ms = (now_ms() // 60_000 + 30) * 60_000
    at = {"TIMER_DELIVER_MS": str(minute_ms + 5000)}
    await client.send("T", b"m", properties=at)
    sent = await client.send("T", b"recalled", properties=at | {"UNIQ_KEY": "K"})
    handle = {"topic": "T", "recallHandle": sent.ext["recallHandle"]}
    await client.call(RequestCode.RECALL_MESSAGE, handle)
    far_ms = minute_ms + 60 * 3_600_000
    await client.send("U", b"m", properties={"TIMER_DELIVER_MS": str(far_ms)})
    await waiting(client, 2)

    body = java_json.loads((await client.call(RequestCode.GET_TIMERS)).body)

    assert (body["waitingCount"], body["overdueCount"], body["heldCount"]) == (2, 0, 0)
    assert (body["minutes"], body["hours"][0][1]) == ([[minute_ms, 1]], 1)
    assert sorted(body["topics"]) == [["T", 1], ["U", 1]]
    # The wheel reaches two days ahead.
    assert (body["rolledCount"], body["topicCount"], body["untakenCount"]) == (1, 2, 0)
    assert body["firstDueMs"] == minute_ms + 5000
    assert minute_ms < body["lastDueMs"] < far_ms
    assert (body["isDelivering"], body["hindrance"]) == (True, None)
    assert body["behindMs"] < 5000


async def test_a_stock_replica_gets_progress_and_counts(agent):
    client = await agent.start()
    before = await eventually_delivering(client)
    none = java_json.loads((await client.call(RequestCode.GET_TIMER_METRICS)).body)
    due_ms = (now_ms() // 1000 + 3600) * 1000
    for _ in range(3):
        await client.send("T", b"m", properties={"TIMER_DELIVER_MS": str(due_ms)})
    await waiting(client, 3)

    async def flushed():
        numbers = struct.unpack(">7q", (await client.call(RequestCode.GET_TIMER_CHECK_POINT)).body)
        return numbers if numbers[1:3] == (3 * 52, 3) else None

    read_ms, log_end, offset, master_offset, *version = await eventually(flushed)
    metrics = java_json.loads((await client.call(RequestCode.GET_TIMER_METRICS)).body)

    assert before[1:] == (0, 0, 0, 0, 0, 0)
    assert abs(now_ms() - before[0]) < 60_000
    assert none["timingCount"] == {}
    assert (log_end, offset, master_offset) == (3 * 52, 3, 3)
    assert read_ms >= before[0]
    counted = metrics["timingCount"]["T"]
    assert (counted["count"], len(metrics["timingCount"])) == (3, 1)
    assert abs(now_ms() - counted["timeStamp"]) < 60_000
    assert [metrics["dataVersion"][one] for one in ("timestamp", "counter")] == version[1:]


async def eventually_delivering(client):
    """Wait until the wheel stands at the present, and return the checkpoint."""

    async def checkpoint():
        found = await client.call(RequestCode.GET_TIMER_CHECK_POINT)
        numbers = struct.unpack(">7q", found.body) if found.code == 0 else (0,)
        return numbers if numbers[0] > 0 else None

    return await eventually(checkpoint)


async def test_timers_that_are_switched_off_refuse_messages(agent):
    client = await agent.start(timerWheelEnable="false")

    sent = await client.send("T", b"m", properties={"TIMER_DELAY_SEC": "1"})

    assert sent.code == 1
    assert "timerWheelEnable is false" in sent.remark


async def test_a_slot_takes_no_more_than_twice_its_limit(agent):
    # The longest precision there is: with stock's window that is 120 days.
    client = await agent.start(timerCongestNumEachSlot="2", timerPrecisionMs="60000")
    at = {"TIMER_DELIVER_MS": str(now_ms() + 3_600_000)}

    codes = []
    while 1 not in codes and len(codes) < 9:
        sent = await client.send("T", b"m", properties=at)
        codes.append(sent.code)
        await waiting(client, codes.count(0))

    # From the third message on chance decides, and a fifth is never taken.
    assert codes in [[0, 0, 0, 1], [0, 0, 0, 0, 1]]


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_each_message_is_delivered_once_whatever_ends_the_broker(agent, quick, end):
    broker = await Broker(agent, **quick).start()
    count = 60
    for number in range(count):
        at = {"TIMER_DELAY_MS": str(200 + 20 * number)}
        await broker.send(1, b"m%d." % number, properties=at)
    while (await broker.ends())[1] < count // 3:
        await broker.send(1, b"tick", topic="other")

    await broker.go_on(end)
    await broker.send(1, b"last", properties={"TIMER_DELAY_MS": "3000"})
    while b"last0" not in (found := await broker.all_of()):
        await broker.send(1, b"tick", topic="other")

    assert sorted(found) == sorted([b"m%d.0" % number for number in range(count)] + [b"last0"])


async def test_a_message_of_a_former_topic_is_not_delivered(agent, quick):
    broker = await Broker(agent, **quick).start()
    await broker.send(1, b"former", properties={"TIMER_DELAY_MS": "1000"})
    await broker.delete()
    await broker.create()

    await broker.send(1, b"new", properties={"TIMER_DELAY_MS": "1200"})

    assert bodies(await broker.client.pull("T", **HELD)) == [b"new0"]


async def test_the_largest_properties_of_a_delivered_copy_fit(agent):
    client = await agent.start()
    at = {"TIMER_DELAY_SEC": "3600", "UNIQ_KEY": "K"}

    codes = []
    for size in (32_300, 32_650):
        sent = await client.send("T", b"m", properties=at | {"big": "v" * size})
        codes.append(sent.code)

    assert codes == [0, 13]
