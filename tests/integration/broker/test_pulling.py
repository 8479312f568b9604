import asyncio
import time

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, messages, send_fields
from tests.integration.broker.test_sending import batch_entry
from tests.waiting import PATIENCE_S, eventually

SUSPEND = 2
SUBSCRIPTION = 4
COMMIT = 1


async def test_a_pull_reads_what_was_sent_and_says_where_to_go_on(client):
    for number in range(5):
        await client.send("T", b"%d" % number, properties={"KEYS": f"k{number}"})

    pulled = await client.pull("T", queueOffset=1, maxMsgNums=3)

    assert pulled.code == 0
    assert bodies(pulled) == [b"1", b"2", b"3"]
    assert [record.queue_offset for record in messages(pulled)] == [1, 2, 3]
    assert pulled.ext == {
        "suggestWhichBrokerId": "0",
        "nextBeginOffset": "4",
        "minOffset": "0",
        "maxOffset": "5",
    }


@pytest.mark.parametrize(
    ("offset", "code", "next_offset"),
    [(3, 19, "3"), (4, 21, "3"), (1000, 21, "3"), (-1, 21, "0")],
)
async def test_an_offset_outside_the_queue_is_answered_as_stock_does(
    client, offset, code, next_offset
):
    for _ in range(3):
        await client.send("T", b"x")

    pulled = await client.pull("T", queueOffset=offset)

    assert (pulled.code, pulled.ext["nextBeginOffset"], pulled.body) == (code, next_offset, b"")


@pytest.mark.parametrize(("queue_id", "offset"), [(0, 4), (0, 1000), (0, -1), (1, 7)])
async def test_a_replica_moves_no_consumer_to_an_end_of_what_it_has(
    client, broker, queue_id, offset
):
    for _ in range(3):
        await client.send("T", b"x", queue_id=0)
    broker.broker.topics.follow()

    pulled = await client.pull("T", queueId=queue_id, queueOffset=offset)

    next_offset = str(max(offset, 0))
    assert (pulled.code, pulled.ext["nextBeginOffset"], pulled.body) == (19, next_offset, b"")


async def test_an_empty_queue_is_not_found_at_zero_and_moved_elsewhere(client):
    await client.send("T", b"x", queue_id=0)

    at_zero = await client.pull("T", queueId=1)
    beyond = await client.pull("T", queueId=1, queueOffset=7)

    assert (at_zero.code, beyond.code) == (19, 21)


async def test_a_held_pull_is_woken_by_an_arrival(client, broker, connect):
    await client.send("T", b"first")
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    sender = await connect(broker)
    await sender.send("T", b"second")

    assert bodies(await pull) == [b"second"]


async def test_a_held_pull_on_a_queue_never_written_is_woken_by_its_first_message(client, broker):
    await client.send("T", b"elsewhere", queue_id=0)
    pull = client.start_pull("T", queueId=2, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    await client.send("T", b"here", queue_id=2)

    assert bodies(await pull) == [b"here"]


async def test_a_held_pull_ends_as_not_found_when_its_time_is_over(client, broker):
    await client.send("T", b"first")
    started = time.monotonic()

    pulled = await client.pull(
        "T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION, suspendTimeoutMillis=300
    )

    waited = time.monotonic() - started
    assert (pulled.code, pulled.ext["nextBeginOffset"]) == (19, "1")
    assert waited >= 0.3
    assert len(broker.broker.polling) == 0


async def test_a_pull_without_the_suspend_flag_is_never_held(client):
    await client.send("T", b"first")

    pulled = await client.pull("T", queueOffset=1)

    assert pulled.code == 19


async def test_a_filter_passes_only_its_tags_and_still_moves_on(client):
    for tag in ("A", "B", "C", "B"):
        await client.send("T", tag.encode(), properties={"TAGS": tag})

    some = await client.pull("T", subscription="A || C")
    none = await client.pull("T", subscription="Z")

    assert bodies(some) == [b"A", b"C"]
    assert (none.code, none.ext["nextBeginOffset"]) == (20, "4")


async def test_a_held_pull_sleeps_through_messages_its_filter_leaves_out(client, broker):
    await client.send("T", b"x", properties={"TAGS": "B"})
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION, subscription="A")
    await holding(broker, 1)

    await client.send("T", b"no", properties={"TAGS": "B"})
    await client.send("T", b"yes", properties={"TAGS": "A"})

    pulled = await pull
    assert bodies(pulled) == [b"yes"]
    assert pulled.ext["nextBeginOffset"] == "3"


async def test_a_held_pull_goes_on_where_one_read_examines_too_few(client, broker):
    await client.send("T", b"x", properties={"TAGS": "B"})
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION, subscription="A")
    await holding(broker, 1)

    others = batch_entry(b"no", {"TAGS": "B"}) * 2_000
    fields = send_fields("T") | {"m": "true"}
    await client.call(RequestCode.SEND_BATCH_MESSAGE, fields, others)

    pulled = await asyncio.wait_for(pull, PATIENCE_S / 2)
    assert pulled.code == 20
    assert 1 < int(pulled.ext["nextBeginOffset"]) < 2_001


async def test_a_push_consumer_pulls_by_its_heartbeat(client):
    await client.heartbeat("g", "T", sub={"expression": "A"})
    for tag in ("A", "B"):
        await client.send("T", tag.encode(), properties={"TAGS": tag})

    pulled = await client.pull("T", sysFlag=0, subscription=None, subVersion=1)

    assert bodies(pulled) == [b"A"]


async def test_a_pull_without_subscription_wants_a_heartbeat_first(client):
    await client.send("T", b"x")

    unknown = await client.pull("T", sysFlag=0, subscription=None)
    await client.heartbeat("g", "Other")
    elsewhere = await client.pull("T", sysFlag=0, subscription=None)
    await client.heartbeat("g", "T")
    newer = await client.pull("T", sysFlag=0, subscription=None, subVersion=9)

    assert [unknown.code, elsewhere.code, newer.code] == [24, 24, 25]


async def test_a_pull_commits_on_its_first_run_only(client, broker):
    await client.send("T", b"x")
    pull = client.start_pull(
        "T", queueOffset=1, commitOffset=1, sysFlag=COMMIT | SUSPEND | SUBSCRIPTION
    )
    await holding(broker, 1)
    fields = {"consumerGroup": "g", "topic": "T", "queueId": 0}

    client.notify(RequestCode.UPDATE_CONSUMER_OFFSET, fields | {"commitOffset": 0})
    await client.send("T", b"y")
    await pull

    stored = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    assert stored.ext["offset"] == "0"


async def test_a_lite_pull_is_served_like_a_pull(client):
    await client.send("T", b"x")

    pulled = await client.pull("T", code=RequestCode.LITE_PULL_MESSAGE, sysFlag=22)

    assert bodies(pulled) == [b"x"]


async def test_the_fast_port_sends_but_does_not_pull(broker, connect):
    fast = await connect(broker, is_fast=True)

    sent = await fast.send("T", b"x")
    pulled = await fast.pull("T")

    assert (sent.code, pulled.code) == (0, 3)


async def test_a_closed_connection_takes_its_held_pulls_along(broker, connect):
    client = await connect(broker)
    await client.send("T", b"x")
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    await client.close()

    await holding(broker, 0)
    with pytest.raises(ConnectionError):
        await pull


async def test_a_stopping_broker_answers_held_pulls(start_broker, connect):
    server = await start_broker()
    client = await connect(server)
    await client.send("T", b"x")
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(server, 1)

    await server.close()

    assert (await pull).code == 19


async def holding(server, count):
    await eventually(lambda: len(server.broker.polling) == count)
