import asyncio

import pytest
from structlog.testing import capture_logs

from backend.remoting.request_code import RequestCode
from tests.waiting import eventually
from workers.broker.commit_log.write_block import WriteBlock

SEGMENT = {"mappedFileSizeCommitLog": "65536", "cleanResourceInterval": "3600000"}


async def fill(client, count=200):
    for turn in range(count):
        assert (await client.send("T", b"x" * 1000, queue_id=turn % 4)).code == 0


def first_record(server):
    low, _ = server.store.offsets("T", 0)
    ((log_position, _, _),) = server.store.entries("T", 0, low, 1)
    return log_position


@pytest.mark.parametrize(
    "code", [RequestCode.DELETE_EXPIRED_COMMITLOG, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE]
)
async def test_an_operator_has_what_is_old_deleted_at_once(start_broker, connect, code):
    server = await start_broker(fileReservedTime="0", **SEGMENT)
    client = await connect(server)
    await fill(client)
    await eventually(lambda: server.store.flushed_position == server.store.max_position)

    answer = await client.call(code)

    assert answer.code == 0
    await eventually(lambda: server.store.max_position - server.store.min_position <= 65_536)
    # The queues begin where their records do a moment after the last segment went.
    await eventually(lambda: first_record(server) >= server.store.min_position)
    low, high = server.store.offsets("T", 0)
    assert 0 < low < high == 50
    lowest = await client.call(RequestCode.GET_MIN_OFFSET, {"topic": "T", "queueId": "0"})
    assert lowest.ext["offset"] == str(low)
    assert (await client.send("T", b"still taken")).code == 0


async def test_what_is_not_old_stays(start_broker, connect):
    server = await start_broker(**SEGMENT)
    client = await connect(server)
    await fill(client)
    await eventually(lambda: server.store.flushed_position == server.store.max_position)

    await client.call(RequestCode.DELETE_EXPIRED_COMMITLOG)
    await asyncio.sleep(0.3)

    assert server.store.min_position == 0


async def test_a_limit_on_the_size_is_kept_without_being_asked(start_broker, connect):
    server = await start_broker(
        fileReservedSize="131072",
        **SEGMENT | {"cleanResourceInterval": "50", "deleteCommitLogFilesInterval": "10"},
    )
    client = await connect(server)

    await fill(client, count=600)

    await eventually(lambda: server.store.max_position - server.store.min_position < 4 * 65_536)
    assert server.store.min_position > 0


async def test_a_full_disk_refuses_messages_with_the_reason_until_there_is_room(broker, client):
    await client.send("T", b"makes the topic")
    broker.broker.block_writes(WriteBlock.DISK_FULL)

    refused = [await client.send(topic, b"x") for topic in ("T", "Unknown")]
    broker.broker.unblock_writes(WriteBlock.DISK_FULL)
    accepted = await client.send("T", b"x")

    assert {answer.code for answer in refused} == {14}
    assert all("the disk is nearly full" in answer.remark for answer in refused)
    assert accepted.code == 0


async def test_a_disk_that_is_nearly_full_holds_delayed_messages_back(start_broker, connect):
    server = await start_broker(messageDelayLevel="1s")
    client = await connect(server)
    # Nothing is delivered before the disk is full.
    server.broker.state.delays.stop()
    await client.send("T", b"late", properties={"DELAY": "1"})
    server.broker.block_writes(WriteBlock.DISK_FULL)
    with capture_logs() as logs:
        server.broker.state.delays.start()
        await eventually(lambda: "delayed_delivery_refused" in [entry["event"] for entry in logs])
    held_back = server.store.offsets("T", 0)

    server.broker.unblock_writes(WriteBlock.DISK_FULL)

    await eventually(lambda: server.store.offsets("T", 0) == (0, 1))
    assert held_back is None


async def test_room_on_the_disk_does_not_undo_another_reason(broker, client):
    broker.broker.block_writes(WriteBlock.FLUSH_FAILED)
    broker.broker.block_writes(WriteBlock.DISK_FULL)
    broker.broker.unblock_writes(WriteBlock.DISK_FULL)

    refused = await client.send("T", b"x")

    assert refused.code == 14
    assert "flush" in refused.remark
    broker.broker.unblock_writes(WriteBlock.FLUSH_FAILED)
