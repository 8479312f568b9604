"""Sends to a static topic and pulls from it, beside those of an ordinary topic of one broker.

The ratio is of the agent's processor time for a message, which is steadier on a busy machine than
the rate (targets.md 4.3).
"""

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psutil

from backend.brokers.requests.logical_queues import StoreMapping
from backend.domain.logical_queue.mapping import BrokerMapping, MappingInfo
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.topic_layout import TopicLayout
from backend.remoting.request_code import RequestCode
from tests.bench.clients.load import build, run_load
from tests.bench.clients.systems import QUEUE_COUNT, topic_fields
from tests.bench.measure import BLOCK_COUNT, Measure, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import Server
from tests.bench.pipelined import BROKER_NAME, running_agent
from tests.integration.broker.client import Client

RATIO_MIN: Final = 0.9
TOPICS = ORDINARY, STATIC = "Ordinary", "Static"
BLOCK_S = 2.0
BLOCK_MEMORY: Final = 512 << 20
FILL_COUNT: Final = 200_000


@dataclass(frozen=True, slots=True)
class Load:
    """What a block does to one of the topics."""

    title: str
    command: Literal["send", "pull"]
    counted: str
    options: dict[str, float]


LOADS: Final = (
    Load("pulled messages of 128 B", "pull", "messages", {}),
    Load("sends of 128 B, 1 x 64", "send", "acknowledged", {"in_flight": 64, "body_size": 128}),
    Load(
        "sends of 1 KiB, 16 x 4",
        "send",
        "acknowledged",
        {"connections": 16, "in_flight": 4, "body_size": 1024},
    ),
)


def measure_static_rates() -> Iterator[Measure]:
    """Load both topics in turn, each time in the other order."""
    build()
    with (
        tempfile.TemporaryDirectory(prefix="regent-bench-") as directory,
        running_agent(Path(directory)) as agent,
    ):
        asyncio.run(_prepare(agent))
        for load in LOADS:
            yield asyncio.run(_measure(agent, load))


async def _prepare(agent: Server) -> None:
    """Create both topics, with as many messages each."""
    client = await Client.connect(int(agent.address.rpartition(":")[2]))
    segments = {number: (QueueSegment(0, BROKER_NAME, number),) for number in range(QUEUE_COUNT)}
    request = StoreMapping(
        layout=TopicLayout(read_queue_count=QUEUE_COUNT, write_queue_count=QUEUE_COUNT),
        mapping=BrokerMapping(MappingInfo(STATIC, BROKER_NAME, 1_000, QUEUE_COUNT), segments),
    )
    for answer in (
        await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, topic_fields(ORDINARY, QUEUE_COUNT)),
        await client.call(request.code, request.ext, request.body),
    ):
        assert answer.code == 0, answer.remark
    await client.close()
    for topic in (ORDINARY, STATIC):
        await run_load("send", agent.address, topic, count=FILL_COUNT, in_flight=64, body_size=128)


async def _measure(agent: Server, load: Load) -> Measure:
    process = psutil.Process(agent.pid)
    blocks = []
    for number in range(BLOCK_COUNT):
        block = {}
        for topic in (ORDINARY, STATIC)[:: 1 if number % 2 else -1]:
            warm_memory(BLOCK_MEMORY)
            before_s = _busy_s(process)
            result = await run_load(
                load.command, agent.address, topic, seconds=BLOCK_S, **load.options
            )
            busy_us = (_busy_s(process) - before_s) * 1e6
            block[topic] = {
                "us": busy_us / result[load.counted],
                "per_second": result["per_second"],
            }
        blocks.append(block)
    ratios = [block[ORDINARY]["us"] / block[STATIC]["us"] for block in blocks]
    rates = {name: median([block[name]["per_second"] for block in blocks]) for name in TOPICS}
    times = {name: median([block[name]["us"] for block in blocks]) for name in TOPICS}
    return Measure(
        "LQ",
        f"{load.title}, ordinary / static topic",
        median(ratios),
        floor=RATIO_MIN,
        facts={
            "blocks": spread(ratios),
            "µs": f"{times[ORDINARY]:.2f} and {times[STATIC]:.2f}",
            "messages/s": f"{rates[ORDINARY]:.0f} and {rates[STATIC]:.0f}",
        },
        blocks=blocks,
    )


def _busy_s(process: psutil.Process) -> float:
    """Return the processor time of the agent, of all its threads."""
    spent = process.cpu_times()
    return spent.user + spent.system
