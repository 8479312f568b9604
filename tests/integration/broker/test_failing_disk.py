"""On a disk that fails, what was acknowledged stays, and the broker says what is wrong.

A library between the agent and libc lets calls fail while a file says so; see `failing_disk.c`.
"""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client, bodies
from tests.long_form import few

BODY = b"x" * 8_000
SEGMENT_BYTES = 1 << 20
MORE_COUNT = 2 * SEGMENT_BYTES // len(BODY)
ERROR = "Input/output error"


@dataclass(frozen=True)
class Faults:
    """The errors of the disk from now on."""

    plan: Path

    def begin(self, *calls: str, below: str) -> None:
        """Have these calls fail for files whose path holds a text."""
        self.plan.with_suffix(".new").write_text(" ".join((*calls, below)))
        self.plan.with_suffix(".new").replace(self.plan)

    def end(self) -> None:
        self.plan.unlink()


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("failing-disk") / "failing_disk.so"
    source = Path(__file__).with_name("failing_disk.c")
    command = ["cc", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(built), str(source)]
    subprocess.run([*command, "-ldl"], check=True)
    return built


@pytest.fixture
def faults(tmp_path: Path) -> Faults:
    return Faults(tmp_path / "faults")


@pytest.fixture
def agent(tmp_path: Path, library: Path, faults: Faults) -> Iterator[Agent]:
    settings = {
        "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
        "flushConsumerOffsetInterval": "50",
    }
    environment = {"LD_PRELOAD": str(library), "FAILING_DISK": str(faults.plan)}
    with Agent(tmp_path, settings, environment) as agent:
        yield agent


async def send(agent: Agent, client: Client) -> tuple[Client, str | None]:
    """Send a message; return the connection for the next one, and what kept it from being taken.

    The broker hangs up on those whose message has an unknown fate.
    """
    try:
        answer = await client.send("T", BODY)
    except ConnectionResetError as error:
        return await Client.connect(agent.port), str(error)
    assert answer.code in {0, 14}, answer.remark
    return client, answer.remark if answer.code else None


async def send_until_refused(client: Client, *, queue_id: int = 0) -> tuple[int, str]:
    """Send until the broker refuses; return how many it took and what it said then."""
    for count in range(2 * SEGMENT_BYTES // len(BODY)):
        answer = await client.send("T", BODY, queue_id=queue_id)
        if answer.code != 0:
            assert answer.code == 14, answer.remark
            return count, answer.remark
    raise AssertionError("every message was taken")


async def count_held(client: Client, *, queue_id: int = 0) -> int:
    count = 0
    while (pulled := await client.pull("T", queueId=queue_id, queueOffset=count)).code == 0:
        assert set(bodies(pulled)) == {BODY}
        count += len(bodies(pulled))
    return count


@pytest.mark.parametrize(
    ("call", "below", "flush_mode"),
    few(
        [
            ("msync", "/commitlog/", "SYNC_FLUSH"),
            ("msync", "/commitlog/", "ASYNC_FLUSH"),
            ("fdatasync", "/checkpoint", "SYNC_FLUSH"),
            ("fdatasync", "/checkpoint", "ASYNC_FLUSH"),
        ],
        2,
    ),
)
async def test_a_failed_flush_ends_appends_until_a_restart_and_loses_nothing_acknowledged(
    agent, faults, call, below, flush_mode
):
    client = await agent.start(flushDiskType=flush_mode)
    acknowledged = 0
    for _ in range(20):
        acknowledged += (await client.send("T", BODY)).code == 0

    faults.begin(call, below=below)
    refusal = None
    while refusal is None or "restart the broker" not in refusal:
        client, refusal = await send(agent, client)
        acknowledged += refusal is None
    faults.end()
    (logged,) = agent.events("flush_failed")
    _, refused_later = await send(agent, client)
    info = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
    served = await count_held(client)
    code = agent.end()
    unclosed = agent.events("store_not_closed")
    client = await agent.start(flushDiskType=flush_mode)

    assert ERROR in logged
    assert below in logged
    assert refused_later == "a flush to the disk failed; repair the disk, then restart the broker"
    assert b'"brokerActive":"false"' in info.body
    assert 20 <= acknowledged <= served
    assert (code, len(unclosed)) == (1, 1)
    assert ERROR in unclosed[0]
    assert await count_held(client) >= acknowledged
    assert (await client.send("T", BODY)).code == 0
    agent.stop()


async def test_under_synchronous_flushes_nothing_is_acknowledged_once_the_disk_fails(agent, faults):
    client = await agent.start(flushDiskType="SYNC_FLUSH")
    assert (await client.send("T", BODY)).code == 0

    faults.begin("msync", below="/commitlog/")
    outcomes = []
    for _ in range(20):
        client, refusal = await send(agent, client)
        outcomes.append(refusal)

    assert None not in outcomes


async def test_a_segment_that_is_cut_short_ends_appends_and_never_the_process(agent, eventually):
    client = await agent.start()
    assert (await client.send("T", BODY)).code == 0
    (segment,) = agent.root.rglob("commitlog/00000000000000000000")

    os.truncate(segment, 4096)
    _, refusal = await send(agent, client)
    (logged,) = await eventually(lambda: agent.events("flush_failed"))

    assert refusal is not None
    assert "cut short, or the disk is bad" in logged
    assert "00000000000000000000" in logged
    assert agent.is_alive()
    assert agent.end() == 1


async def test_write_back_that_cannot_be_started_is_a_failed_flush(agent, faults, eventually):
    client = await agent.start(mappedFileSizeCommitLog=str(64 << 20), flushIntervalCommitLog="300")
    faults.begin("sync_file_range", below="/commitlog/")

    async def has_failed():
        # Much in little time: what is flushed little by little needs no pacing.
        await asyncio.gather(*(client.send("T", b"x" * 500_000) for _ in range(40)))
        return agent.events("flush_failed")

    (logged,) = await eventually(has_failed)
    faults.end()
    _, refusal = await send(agent, client)

    assert ERROR in logged
    assert "restart the broker" in (refusal or "")


@pytest.mark.parametrize(
    ("call", "below", "queue_id", "named"),
    [
        ("fallocate", "/commitlog/", 0, "/commitlog"),
        # The directory's, whose new entry must be on the disk before anything goes there.
        ("fsync", "/commitlog", 0, "/commitlog"),
        # A queue file is made beside its place first, and in its place if that fails.
        ("fallocate", "/store/", 1, "/consumequeue/T/1"),
    ],
)
async def test_a_file_that_cannot_be_made_is_made_once_the_disk_is_well(
    agent, faults, eventually, call, below, queue_id, named
):
    client = await agent.start()
    # Makes the topic and the first segment.
    assert (await client.send("T", BODY, queue_id=3)).code == 0

    faults.begin(call, below=below)
    taken, remark = await send_until_refused(client, queue_id=queue_id)
    held = await count_held(client, queue_id=queue_id)
    faults.end()

    async def is_taken():
        return (await client.send("T", BODY, queue_id=queue_id)).code == 0

    for _ in range(MORE_COUNT):
        await eventually(is_taken)

    assert ERROR in remark
    assert named in remark
    assert held == taken
    assert await count_held(client, queue_id=queue_id) == taken + MORE_COUNT
    assert agent.events("messages_refused")
    agent.kill()
    client = await agent.start()
    assert await count_held(client, queue_id=queue_id) == taken + MORE_COUNT


def holds_offset(path):
    # Between two renames there is only its backup.
    with contextlib.suppress(FileNotFoundError):
        return '"T@g"' in path.read_text()
    return False


async def test_files_that_cannot_be_written_hold_up_no_message_and_are_written_later(
    agent, faults, eventually
):
    client = await agent.start()
    await client.heartbeat("g", "T")
    assert (await client.send("T", BODY)).code == 0
    await eventually(lambda: (agent.root / "store" / "checkpoint").stat().st_size == 4096)
    queue = {"consumerGroup": "g", "topic": "T", "queueId": 0}

    faults.begin("write", "pwrite", below="/store/")
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | {"commitOffset": 1})
    assert (await client.send("T", BODY)).code == 0
    await eventually(lambda: agent.events("checkpoint_not_written"))
    failed = "consumerOffset.json"
    await eventually(lambda: any(failed in line for line in agent.events("state_not_saved")))
    assert (await client.send("T", BODY)).code == 0
    faults.end()
    path = agent.root / "store" / "config" / "consumerOffset.json"
    await eventually(lambda: holds_offset(path))

    assert (await client.send("T", BODY)).code == 0
    assert all(ERROR in line for line in agent.events("state_not_saved"))
    assert len(agent.events("checkpoint_not_written")) == 1
    assert agent.events("flush_failed") == []
    agent.stop()
