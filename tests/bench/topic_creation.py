"""What one more topic costs where there are few and where there are many, beside one producer.

Usage: `python -m tests.bench.topic_creation [COUNT...]`; 10 and 10 000 without counts. A lone
broker and a name server of ours run as in a cluster. Once there are COUNT topics, 100 more are
made, one after the other, while one producer sends as fast as it is answered. It prints a table.
"""

# ruff: noqa: T201 - its report is what it prints

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from backend.remoting.request_code import RequestCode
from tests.bench.control_plane import running_control_plane
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client
from tests.integration.broker.test_bad_input import create_fields

COUNTS: Final = (10, 10_000)
MEASURED_COUNT: Final = 100
SEGMENT_BYTES: Final = 256 << 20


def main(arguments: list[str]) -> int:
    print("| topics | ms a topic, median | slowest | state in the log, bytes | sends a second |")
    print("|---|---|---|---|---|")
    for count in [int(one) for one in arguments] or COUNTS:
        with (
            tempfile.TemporaryDirectory(prefix="regent-bench-") as directory,
            running_control_plane() as plane,
            Agent(Path(directory)) as agent,
        ):
            print(asyncio.run(_measure(agent, plane.port, count)), flush=True)
    return 0


async def _measure(agent: Agent, name_server_port: int, count: int) -> str:
    client = await agent.start(
        namesrvAddr=f"127.0.0.1:{name_server_port}",
        mappedFileSizeCommitLog=str(SEGMENT_BYTES),
        registerNameServerPeriod="30000",
    )
    await _create(client, range(count))
    before = _state_bytes(agent)
    sender = await Client.connect(agent.port)
    sent = [0]
    busy = asyncio.create_task(_send(sender, sent))
    began_at = time.perf_counter()
    times_ms = await _create(client, range(count, count + MEASURED_COUNT))
    rate = sent[0] / (time.perf_counter() - began_at)
    busy.cancel()
    await asyncio.gather(busy, return_exceptions=True)
    await sender.close()
    grown = (_state_bytes(agent) - before) / MEASURED_COUNT
    return f"| {count} | {median(times_ms):.1f} | {max(times_ms):.1f} | {grown:.0f} | {rate:.0f} |"


async def _create(client: Client, numbers: range) -> list[float]:
    times_ms = []
    for number in numbers:
        began_at = time.perf_counter()
        fields = create_fields(f"topic-{number}")
        answer = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
        assert answer.code == 0, answer
        times_ms.append((time.perf_counter() - began_at) * 1000)
    return times_ms


async def _send(client: Client, sent: list[int]) -> None:
    while True:
        answer = await client.send("topic-0", b"x" * 100)
        assert answer.code == 0, answer
        sent[0] += 1


def _state_bytes(agent: Agent) -> int:
    """Count the bytes of state in the log, by the entries of its queue."""
    folder = agent.root / "store" / "consumequeue" / "rmq_sys_REGENT_STATE" / "0"
    total = 0
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for at in range(0, len(content), 20):
            total += int.from_bytes(content[at + 8 : at + 12], "big")
    return total


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
