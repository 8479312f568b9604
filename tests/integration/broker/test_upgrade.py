"""Data directories of the commit before state moved into the log open with everything in them.

`former_stores.tar.xz` holds three stores that `fa94701f` wrote: of a lone broker that was stopped,
of one that was killed, and of the master of a group. Each had three topics and the groups g and
ordered. Gone: 50 messages, read to the end, deleted at last. Kept: 20 messages in two queues, three
delayed by a second, and three that wait for an hour. Laid: three queues, ordered.
"""

import tarfile
from pathlib import Path

import pytest

from backend.remoting.names import SCHEDULE_TOPIC, retry_topic
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.integration.broker.test_bad_input import create_fields
from workers.broker.server import now_ms

STORES = Path(__file__).with_name("former_stores.tar.xz")
LAYOUT = {
    "mappedFileSizeCommitLog": str(256 << 10),
    "mappedFileSizeConsumeQueue": "2000",
    "maxHashSlotNum": "100",
    "maxIndexNum": "100",
    "messageDelayLevel": "1s 2s 1h",
}
HOUR_MS = 3_600_000


@pytest.fixture
def former(tmp_path):
    """Put one of the stores where agents of this test look for theirs."""

    def put(name):
        with tarfile.open(STORES) as archive:
            # Python 3.11 has it since 3.11.4.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(tmp_path / "former")
        (tmp_path / "former" / name / "store").rename(tmp_path / "store")

    return put


def are_hours_over(server):
    """Whether the hour is over for which messages wait; each keeps the due time that it had."""
    entries = server.store.held_entries(SCHEDULE_TOPIC, 2, 0, 3)
    assert len(entries) == 3
    due_ms, now = entries[-1][2], now_ms()
    return due_ms <= now or due_ms - HOUR_MS > now


async def check_everything(server, client):
    broker = server.broker
    layout = broker.topics.find("Laid")
    assert (layout.read_queue_count, layout.is_ordered) == (3, True)
    assert {"Kept", retry_topic("g")} <= {topic.name for topic in broker.topics.all()}
    assert broker.topics.find("Gone") is None
    assert broker.groups.find("ordered").retry_count_max == 3
    assert broker.groups.find("g") is not None
    assert broker.offsets.of_topic("g", "Kept") == {0: 7, 1: 10}
    assert broker.offsets.of_topic("g", "Gone") == {}
    wanted = {0: [f"kept{n}" for n in range(0, 20, 2)], 1: [f"kept{n}" for n in range(1, 20, 2)]}
    wanted[0] += ["soon0", "soon1", "soon2"]
    if are_hours_over(server):
        wanted[0] += ["hour0", "hour1", "hour2"]
    for queue_id, expected in wanted.items():
        found = []
        while len(found) < len(expected):
            pulled = await client.pull("Kept", queueId=queue_id, queueOffset=len(found), sysFlag=6)
            found += [body.decode() for body in bodies(pulled)]
        assert found == expected


@pytest.mark.parametrize("name", ["stopped", "killed", "group"])
async def test_a_former_store_opens_with_everything_in_it(former, start_broker, connect, name):
    # Case A6, case A7: the upgrade.
    former(name)

    server = await start_broker(**LAYOUT)

    await check_everything(server, await connect(server))
    assert server.broker.store.offsets(SCHEDULE_TOPIC, 2) == (0, 3)


@pytest.mark.parametrize("name", ["stopped", "killed", "group"])
async def test_a_former_store_is_whole_after_a_second_start_too(
    former, agent, start_broker, connect, name
):
    # Case A6, case A7: the upgrade.
    former(name)
    await agent.start(**LAYOUT)
    agent.kill()

    server = await start_broker(**LAYOUT)

    await check_everything(server, await connect(server))
    count = 16 if are_hours_over(server) else 13
    assert server.broker.store.offsets("Kept", 0) == (0, count)


@pytest.mark.parametrize("name", ["stopped", "killed", "group"])
async def test_a_topic_that_a_former_version_deleted_begins_empty(former, agent, name):
    # Case A6: the former version lost its queues at the deletion, and found them again at a start.
    former(name)
    client = await agent.start(**LAYOUT)
    made = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("Gone"))
    sent = await client.send("Gone", b"new")
    agent.kill()

    client = await agent.start(**LAYOUT)

    assert (made.code, sent.ext["queueOffset"]) == (0, "0")
    assert bodies(await client.pull("Gone")) == [b"new"]
    committed = await client.call(
        RequestCode.QUERY_CONSUMER_OFFSET,
        {"consumerGroup": "g", "topic": "Gone", "queueId": 0, "setZeroIfNotFound": "false"},
    )
    assert committed.code != 0


async def test_topics_whose_file_is_lost_keep_their_messages(former, agent, tmp_path):
    """Nothing says that they were deleted, so who makes them again finds what is there."""
    former("stopped")
    for path in (tmp_path / "store" / "config").iterdir():
        path.unlink()

    for _ in range(2):
        await agent.start(**LAYOUT)
        agent.stop()
    client = await agent.start(**LAYOUT)
    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("Kept"))

    assert bodies(await client.pull("Kept"))[:2] == [b"kept0", b"kept2"]


async def test_a_store_of_a_group_is_loaded_before_its_master_is_known(former, start_broker):
    former("group")

    server = await start_broker(
        **LAYOUT, enableControllerMode="true", controllerAddr="127.0.0.1:1", haListenPort="0"
    )

    broker = server.broker
    assert broker.topics.find("Laid").read_queue_count == 3
    assert broker.topics.find("Gone") is None
    assert broker.groups.find("ordered").retry_count_max == 3
    assert broker.offsets.of_topic("g", "Kept") == {0: 7, 1: 10}
    assert broker.state.delays.progress.get(1) == 3
