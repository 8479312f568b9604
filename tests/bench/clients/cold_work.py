"""Cold work every 0.1 s, inside a broker or in another process (R8)."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

from backend.remoting.request_code import RequestCode
from tests.bench.clients.systems import System, topic_fields

EVERY_S, COLD_MS = 0.1, 16.0
"""As targets.md 2 has it: 16 ms of work ten times a second."""

TOPIC_COUNT = 200
CALIBRATION_COUNT, CALIBRATION_CPU_S = 30, 0.3
"""Requests at a time, until the broker has worked for so long: its clock ticks every 10 ms."""

SPIN = """\
import sys, time
every_s, spin_s = map(float, sys.argv[1:])
while True:
    due_s, end_s = time.perf_counter() + every_s, time.process_time() + spin_s
    while time.process_time() < end_s:
        pass
    time.sleep(max(0.0, due_s - time.perf_counter()))
"""


@dataclass(frozen=True, slots=True)
class ColdRequests:
    """Requests for the settings of all topics, as many as cost a broker 16 ms together."""

    count: int

    @classmethod
    async def prepare(cls, system: System) -> Self:
        """Create topics, and measure what one request costs."""
        async with system.client() as client:
            for number in range(TOPIC_COUNT):
                fields = topic_fields(f"Cold{number}", 1)
                await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
            await client.call(RequestCode.GET_ALL_TOPIC_CONFIG)
            before_s, count = system.cpu_s(), 0
            while system.cpu_s() - before_s < CALIBRATION_CPU_S:
                for _ in range(CALIBRATION_COUNT):
                    await client.call(RequestCode.GET_ALL_TOPIC_CONFIG)
                count += CALIBRATION_COUNT
            cost_ms = (system.cpu_s() - before_s) * 1e3 / count
        return cls(max(1, round(COLD_MS / cost_ms)))

    @asynccontextmanager
    async def repeated(self, system: System) -> AsyncIterator[None]:
        """Keep asking every 0.1 s, whatever the answers take."""

        async def ask() -> None:
            async with system.client() as client:
                while True:
                    due_s = time.monotonic() + EVERY_S
                    calls = [
                        client.start(RequestCode.GET_ALL_TOPIC_CONFIG) for _ in range(self.count)
                    ]
                    await asyncio.gather(*calls)
                    await asyncio.sleep(max(0.0, due_s - time.monotonic()))

        task = asyncio.create_task(ask())
        try:
            yield
            assert not task.done(), "the cold requests ended early"
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


@asynccontextmanager
async def beside(cold_ms: float) -> AsyncIterator[None]:
    """Let another process work as long every 0.1 s."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SPIN, str(EVERY_S), str(cold_ms / 1e3)
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()
