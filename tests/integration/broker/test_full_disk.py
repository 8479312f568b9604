"""No acknowledged message is lost on a disk that fills up, and no restart is needed for space."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from regent_engine import Store, StoreError

from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client, bodies
from tests.integration.broker.small_disk import SmallDisk, mounted
from tests.long_form import few

QUEUES = [(topic, queue_id) for topic in ("A", "B") for queue_id in range(4)]
BODY_SIZE = 4000
REFUSALS_WANTED = 2 * len(QUEUES)
SENDS_MAX = 20_000
SEGMENT_BYTES = 1 << 20
QUEUE_FILE_BYTES = 60_000

# The first look at how full the disk is comes at the start, when it is empty; the next one never.
NO_RATIOS = {"cleanResourceInterval": "86400000", "cleanFileForciblyEnable": "false"}

Sent = dict[tuple[str, int], list[bytes]]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with mounted(tmp_path) as disk:
        yield disk


@pytest.fixture
def agent(tmp_path: Path, disk: SmallDisk) -> Iterator[Agent]:
    settings = {
        "storePathRootDir": str(disk.store),
        "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
        "mappedFileSizeConsumeQueue": str(QUEUE_FILE_BYTES),
        "flushConsumerOffsetInterval": "50",
        "fileReservedTime": "1000",
        **NO_RATIOS,
    }
    with Agent(tmp_path, settings) as agent:
        yield agent


async def send_one_each(client: Client, sent: Sent) -> None:
    for number, (topic, queue_id) in enumerate(QUEUES):
        assert (await send(client, sent, topic, queue_id, number)).code == 0


async def send(client, sent, topic, queue_id, number):
    body = b"%d " % number + b"x" * BODY_SIZE
    answer = await client.send(topic, body, queue_id=queue_id, properties={"KEYS": f"k{number}"})
    if answer.code == 0:
        sent[topic, queue_id].append(body)
    return answer


async def send_until_full(client: Client, sent: Sent) -> list[str]:
    """Send to all queues in turn until none takes anything; return what the broker said."""
    remarks: list[str] = []
    in_a_row = 0
    for number in range(SENDS_MAX):
        answer = await send(client, sent, *QUEUES[number % len(QUEUES)], number)
        in_a_row = in_a_row + 1 if answer.code else 0
        if answer.code:
            assert answer.code == 14, answer.remark
            remarks.append(answer.remark)
        if in_a_row == REFUSALS_WANTED:
            return remarks
    raise AssertionError("the disk did not fill up")


async def assert_holds(client: Client, sent: Sent) -> None:
    for (topic, queue_id), expected in sent.items():
        found: list[bytes] = []
        while (
            pulled := await client.pull(topic, queueId=queue_id, queueOffset=len(found))
        ).code == 0:
            found += bodies(pulled)
        assert found == expected


async def assert_takes_messages(client: Client, sent: Sent, eventually) -> None:
    """Every queue takes messages again, over more than one new segment."""
    for number in range(2 * SEGMENT_BYTES // BODY_SIZE):
        topic, queue_id = QUEUES[number % len(QUEUES)]

        async def is_taken(topic=topic, queue_id=queue_id, number=number):
            return (await send(client, sent, topic, queue_id, number)).code == 0

        await eventually(is_taken)


@pytest.mark.parametrize(
    ("free_kib", "flush_mode"),
    few(
        zip((0, 4, 12, 40, 90, 200, 1_100, 2_300), ("ASYNC_FLUSH", "SYNC_FLUSH") * 4, strict=True),
        2,
    ),
)
async def test_wherever_the_room_ends_all_acknowledged_is_kept_and_sends_go_on_when_there_is_room(
    agent, disk, eventually, free_kib, flush_mode
):
    sent: Sent = defaultdict(list)
    client = await agent.start(flushDiskType=flush_mode)
    # Queue 0 of the first topic alone: files of the others and the index are made without room.
    await client.send("A", b"first")
    await client.send("B", b"first")
    sent["A", 0], sent["B", 0] = [b"first"], [b"first"]
    disk.fill(free_bytes=free_kib << 10)

    remarks = await send_until_full(client, sent)
    await assert_holds(client, sent)
    agent.kill()
    client = await agent.start(flushDiskType=flush_mode, cleanResourceInterval="100")
    still_full = await send(client, defaultdict(list), "A", 3, 0)
    await assert_holds(client, sent)
    disk.clear()
    await assert_takes_messages(client, sent, eventually)
    await assert_holds(client, sent)

    assert all("the disk is full" in remark and "make room" in remark for remark in remarks)
    assert still_full.code == 14
    assert "make room" in still_full.remark
    agent.stop()


async def test_the_same_broker_goes_on_when_there_is_room_and_has_said_what_was_wrong(
    agent, disk, eventually
):
    sent: Sent = defaultdict(list)
    client = await agent.start()
    await send_one_each(client, sent)
    disk.fill(free_bytes=100 << 10)

    await send_until_full(client, sent)
    disk.clear()
    await assert_takes_messages(client, sent, eventually)

    await assert_holds(client, sent)
    (reported,) = agent.events("messages_refused")
    assert str(disk.store / "commitlog") in reported
    agent.stop()


async def test_a_store_with_holes_opened_on_a_full_disk_refuses_messages_until_there_is_room(
    agent, disk
):
    sent: Sent = defaultdict(list)
    client = await agent.start()
    await send_one_each(client, sent)
    agent.kill()
    leave_holes(disk)
    disk.fill()

    # Not an agent, which sees at its start how full the disk is, and asks its store for nothing.
    store = Store(
        str(disk.store), segment_size_bytes=SEGMENT_BYTES, queue_file_size_bytes=QUEUE_FILE_BYTES
    )
    with pytest.raises(StoreError, match="the disk is full"):
        store.append("A", 0, b"refused", b"")
    readable = store.read("A", 0, 0).count
    disk.clear()
    appended = store.append("A", 0, b"taken", b"")
    store.close()

    assert readable == len(sent["A", 0])
    assert appended.queue_offset == readable


async def test_a_broker_that_was_stopped_starts_and_serves_on_a_full_disk(agent, disk):
    sent: Sent = defaultdict(list)
    client = await agent.start()
    await send_one_each(client, sent)
    agent.stop()
    disk.fill()

    client = await agent.start()

    await assert_holds(client, sent)
    agent.stop()


async def test_state_files_stay_as_they_were_and_are_written_when_there_is_room(
    agent, disk, eventually
):
    client = await agent.start()
    await client.send("A", b"x")
    await client.heartbeat("g", "A")
    path = disk.store / "config" / "consumerOffset.json"
    queue = {"consumerGroup": "g", "topic": "A", "queueId": 0}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 1})
    await eventually(lambda: path.exists() and saved_offset(path) == 1)
    disk.fill()

    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 0})
    await eventually(lambda: any(str(path) in one for one in agent.events("state_not_saved")))
    created = await client.call(
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=b'{"groupName":"new"}'
    )
    saved_when_full = saved_offset(path)
    disk.clear()
    await eventually(lambda: saved_offset(path) == 0)

    assert saved_when_full == 1
    # The log has room for orders, and is what the next start goes by.
    assert created.code == 0
    groups = disk.store / "config" / "subscriptionGroup.json"
    await eventually(lambda: groups.exists() and '"new"' in groups.read_text())
    agent.stop()


async def test_after_a_kill_on_a_full_disk_the_log_holds_what_was_answered(agent, disk):
    client = await agent.start()
    await client.send("A", b"x")
    await client.heartbeat("g", "A")
    queue = {"consumerGroup": "g", "topic": "A", "queueId": 0}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 1})
    agent.stop()
    client = await agent.start()
    disk.fill()
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 0})
    agent.kill()

    client = await agent.start()

    offset = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, queue)
    # The log has room for the commit, though the file has not.
    assert offset.ext["offset"] == "0"
    assert bodies(await client.pull("A")) == [b"x"]


async def test_past_the_warning_ratio_messages_are_refused_until_there_is_room(
    agent, disk, eventually
):
    client = await agent.start(cleanResourceInterval="50", diskSpaceWarningLevelRatio="70")
    assert (await client.send("A", b"taken")).code == 0
    disk.fill(free_bytes=disk.free_bytes // 5)

    await eventually(lambda: agent.events("disk_full"))
    refused = await client.send("A", b"refused")
    disk.clear()
    await eventually(lambda: agent.events("disk_has_room"))
    taken = await client.send("A", b"taken")

    assert refused.code == 14
    assert "the disk is nearly full: make room" in refused.remark
    assert taken.code == 0
    agent.stop()


async def test_a_topic_is_deleted_to_make_room(agent, disk, eventually):
    client = await agent.start(cleanResourceInterval="50", diskSpaceWarningLevelRatio="70")
    assert (await client.send("A", b"taken")).code == 0
    disk.fill(free_bytes=disk.free_bytes // 5)
    await eventually(lambda: agent.events("disk_full"))

    deleted = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "A"})

    assert deleted.code == 0
    assert (await client.pull("A")).code == 17
    disk.clear()
    agent.stop()


def leave_holes(disk: SmallDisk) -> None:
    """Leave the log as a stock broker does, which allocates nothing behind the last record."""
    segment = disk.store / "commitlog" / f"{0:020}"
    start = 128 << 10
    span = ["--offset", str(start), "--length", str(SEGMENT_BYTES - start)]
    subprocess.run(["fallocate", "--punch-hole", *span, str(segment)], check=True)


def saved_offset(path: Path) -> int | None:
    table = json.loads(path.read_text())["offsetTable"]
    saved: int | None = table.get("A@g", {}).get("0")
    return saved
