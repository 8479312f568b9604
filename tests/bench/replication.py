"""R9 and R9b: what a replica costs a send, how fast it catches up, and how far it is behind.

One master and one replica. A replica in the sync-state set makes sends wait for it. A learner gets
the same bytes and delays no send. The master is one process throughout.
"""

import asyncio
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import uvloop
from regent_engine import Decoder

from backend.remoting import java_json
from backend.remoting.command import request
from backend.remoting.request_code import RequestCode
from tests.bench.failover.group import TOPIC, Member
from tests.bench.failover.network import loopback
from tests.bench.failover.ours import OurGroup
from tests.bench.measure import BLOCK_COUNT, Measure, UnsteadyError, median, spread
from tests.bench.memory import warm_memory, warm_page_cache
from tests.bench.native import Server, run_json, running
from tests.bench.pulls import LIMIT_DIFFERENCE_MAX, bulk_rate
from tests.integration.broker.client import Client, send_fields

BODY_SIZE = 1024
FRAME_SIZE_MAX = 16 << 20
PORT = 18_000
WARM_COUNT, SEND_COUNT = 200, 1_000
"""Sends of a run, each after the answer of the one before."""

IN_FLIGHT = 64
CLOSED_COUNT = 10_000
OPEN_S = 2.0
BURST_S = 0.001
"""How often an open loop looks what is due."""

BACKLOG_MESSAGES = 320_000
BACKLOG_MEMORY = 1 << 30
CATCH_UP_COUNT, CATCH_UP_REPEATS_MAX = 5, 3
LIMIT_BLOCK = 256 << 10
CATCH_UP_TIMEOUT_S = 120.0
POLL_S = 0.002


@dataclass(frozen=True, slots=True)
class Block:
    """Median send times in µs: with the replica waited for, without, without, with."""

    sync: tuple[float, float]
    alone: tuple[float, float]

    @property
    def ratio(self) -> float:
        return sum(self.sync) / sum(self.alone)


@dataclass(frozen=True, slots=True)
class CatchUp:
    """GB/s of one catch-up, between two measurements of bytes sent over loopback."""

    before: float
    rate: float
    after: float

    @property
    def ratio(self) -> float:
        return 2 * self.rate / (self.before + self.after)

    @property
    def is_void(self) -> bool:
        return abs(self.before - self.after) > LIMIT_DIFFERENCE_MAX * max(self.before, self.after)


def measure_replication() -> list[Measure]:
    """Run a group of two through all three measurements."""
    with (
        tempfile.TemporaryDirectory(prefix="regent-bench-") as directory,
        running("sendfile") as limit,
    ):
        return uvloop.run(_measure(Path(directory) / "group", limit))


async def _measure(directory: Path, limit: Server) -> list[Measure]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    pair = Pair(OurGroup(directory, "127.0.0.1", loopback(2).places, PORT, policy="quorum"))
    try:
        await pair.group.start()
        pair.master = await pair.group.await_whole()
        return [
            await measure_sends(pair),
            await measure_lag(pair),
            await measure_catch_up(pair, limit),
        ]
    finally:
        await pair.group.stop()


class Pair:
    """A group of two whose replica changes its part."""

    def __init__(self, group: OurGroup) -> None:
        self.group = group
        self.master: Member = group.members[0]

    @property
    def replica(self) -> Member:
        return next(member for member in self.group.members if member is not self.master)

    async def take_replica_away(self) -> None:
        await self.replica.end(with_signal=signal.SIGKILL)
        await self._await_set(1)

    async def bring_replica(self, *, is_learner: bool) -> None:
        """Start the replica again, and wait until it follows in its part."""
        if self.replica.is_running:
            await self.take_replica_away()
        await self.group.launch(self.replica, asyncLearner=str(is_learner).lower())
        if is_learner:
            await self.await_end(await self.end_of(self.master))
        else:
            await self._await_set(2)

    async def await_end(self, end: int) -> None:
        """Wait until the replica's log goes to a position."""
        client = await self.connect(self.replica)
        async with asyncio.timeout(CATCH_UP_TIMEOUT_S):
            while True:
                if await log_end(client) >= end:
                    break
                await asyncio.sleep(POLL_S)
        await client.close()

    async def end_of(self, member: Member) -> int:
        client = await self.connect(member)
        end = await log_end(client)
        await client.close()
        return end

    async def connect(self, member: Member) -> Client:
        return await Client.connect(member.port)

    async def _await_set(self, size: int) -> None:
        async with asyncio.timeout(CATCH_UP_TIMEOUT_S):
            while True:
                state = await self.group.state()
                if state is not None and len(state.members) == size:
                    return
                await asyncio.sleep(POLL_S)


async def log_end(client: Client) -> int:
    """Ask a broker where its log ends (1007)."""
    answer = await client.call(RequestCode.GET_BROKER_EPOCH_CACHE)
    end: int = java_json.decode(answer.body, dict)["maxOffset"]
    return end


class Load(asyncio.Protocol):
    """One connection that sends messages of one size, and notes when each is acknowledged."""

    def __init__(self) -> None:
        self._decoder = Decoder(FRAME_SIZE_MAX)
        self._transport: asyncio.Transport | None = None
        self._due_at: dict[int, float] = {}
        self._number = 0
        self._is_answered = asyncio.Event()
        self.latencies: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        for answer in self._decoder.receive(data):
            if answer.code:
                raise RuntimeError(f"a send was refused: {answer.code} {answer.remark}")
            self.latencies.append(now - self._due_at.pop(answer.opaque))
        self._is_answered.set()

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()

    def _frames(self, count: int) -> list[bytes]:
        """Number and encode the next sends."""
        first = self._number + 1
        self._number += count
        return [
            request(RequestCode.SEND_MESSAGE_V2, opaque=opaque, ext=_FIELDS, body=_BODY)
            for opaque in range(first, first + count)
        ]

    async def run_closed(self, count: int, *, in_flight: int) -> float:
        """Keep so many in flight, and give answers a second."""
        assert self._transport is not None
        self.latencies = []
        started_at, left = time.perf_counter(), count
        while len(self.latencies) < count:
            while left and len(self._due_at) < in_flight:
                (frame,) = self._frames(1)
                self._due_at[self._number] = time.perf_counter()
                self._transport.write(frame)
                left -= 1
            self._is_answered.clear()
            await self._is_answered.wait()
        return count / (time.perf_counter() - started_at)

    async def run_open(self, rate: float, duration_s: float) -> None:
        """Send at a rate, whatever the answers do; latencies count from when a send was due."""
        assert self._transport is not None
        count, first = int(rate * duration_s), self._number + 1
        # To encode them while they are due takes half a processor of the two that are measured.
        frames = self._frames(count)
        self.latencies = []
        started_at, sent = time.perf_counter(), 0
        while sent < count:
            due = min(count, int((time.perf_counter() - started_at) * rate))
            for number in range(sent, due):
                self._due_at[first + number] = started_at + number / rate
            self._transport.writelines(frames[sent:due])
            sent = due
            await asyncio.sleep(BURST_S)
        while self._due_at:
            self._is_answered.clear()
            await self._is_answered.wait()


_FIELDS = {name: str(value) for name, value in send_fields(TOPIC).items()}
_BODY = b"." * BODY_SIZE


async def with_load(pair: Pair, run: Callable[[Load], Awaitable[float]]) -> float:
    loop = asyncio.get_running_loop()
    _, load = await loop.create_connection(Load, "127.0.0.1", pair.master.port)
    try:
        return await run(load)
    finally:
        load.close()


async def send_time_us(load: Load) -> float:
    await load.run_closed(WARM_COUNT, in_flight=1)
    await load.run_closed(SEND_COUNT, in_flight=1)
    return median(load.latencies) * 1e6


async def measure_sends(pair: Pair) -> Measure:
    blocks = []
    for _ in range(BLOCK_COUNT):
        first = await with_load(pair, send_time_us)
        await pair.bring_replica(is_learner=True)
        alone = await with_load(pair, send_time_us), await with_load(pair, send_time_us)
        await pair.bring_replica(is_learner=False)
        blocks.append(Block((first, await with_load(pair, send_time_us)), alone))
    ratios = [block.ratio for block in blocks]
    return Measure(
        "R9",
        "p50 of sends that a replica holds / that it is only sent",
        median(ratios),
        ceiling=3.0,
        facts={
            "target": "at most 2.2",
            "blocks": spread(ratios),
            "held µs": round(median([time_us for block in blocks for time_us in block.sync])),
            "sent µs": round(median([time_us for block in blocks for time_us in block.alone])),
        },
        blocks=[asdict(block) for block in blocks],
    )


async def measure_lag(pair: Pair) -> Measure:
    """Bound the lag by the answers: none leaves before the replica holds the message."""

    async def lag_ms(load: Load) -> float:
        rate = await load.run_closed(CLOSED_COUNT, in_flight=IN_FLIGHT)
        await load.run_open(rate / 2, OPEN_S)
        return percentile(load.latencies, 0.99) * 1e3

    lags = [await with_load(pair, lag_ms) for _ in range(BLOCK_COUNT)]
    return Measure(
        "R9b",
        "p99 of sends that a replica holds, at half load; its lag is less",
        median(lags),
        " ms",
        ceiling=20.0,
        facts={"target": "at most 5 ms", "blocks": spread(lags)},
        blocks=[{"lag_ms": lag} for lag in lags],
    )


async def measure_catch_up(pair: Pair, limit: Server) -> Measure:
    await pair.take_replica_away()
    blocks: list[CatchUp] = []
    valid: list[CatchUp] = []
    while len(valid) < CATCH_UP_COUNT and len(blocks) < CATCH_UP_COUNT * CATCH_UP_REPEATS_MAX:
        warm_memory(BACKLOG_MEMORY)
        run_json(
            "load", f"127.0.0.1:{pair.master.port}", TOPIC, str(IN_FLIGHT), str(BODY_SIZE),
            str(BACKLOG_MESSAGES), "0",
        )  # fmt: skip
        block = CatchUp(
            before=bulk_rate(limit, LIMIT_BLOCK),
            rate=await catch_up_rate(pair),
            after=bulk_rate(limit, LIMIT_BLOCK),
        )
        blocks.append(block)
        if not block.is_void:
            valid.append(block)
        await pair.take_replica_away()
    if not valid:
        raise UnsteadyError(0, len(blocks), "a loopback")
    ratios = [block.ratio for block in valid]
    return Measure(
        "R9b",
        "a replica's catch-up / bytes over loopback",
        median(ratios),
        floor=0.4,
        facts={
            "target": "at least 0.6",
            "blocks": spread(ratios),
            "void": len(blocks) - len(valid),
            "catch-up GB/s": round(median([block.rate for block in valid]), 3),
            "loopback GB/s": round(median([block.before for block in valid]), 3),
        },
        blocks=[asdict(block) for block in blocks],
    )


async def catch_up_rate(pair: Pair) -> float:
    """Start the replica, and give GB/s from the first bytes that reach it to the last."""
    end = await pair.end_of(pair.master)
    # At the last moment: a balloon takes the memory back within seconds.
    warm_page_cache(pair.group.directory, BACKLOG_MEMORY)
    await pair.group.launch(pair.replica, asyncLearner="true")
    client = await pair.connect(pair.replica)
    began_at, began = time.perf_counter(), await log_end(client)
    held = began
    deadline = began_at + CATCH_UP_TIMEOUT_S
    while held < end:
        await asyncio.sleep(POLL_S)
        now, held = time.perf_counter(), await log_end(client)
        if held == began:
            began_at = now
        if now > deadline:
            raise TimeoutError(f"the replica holds {held} of {end} bytes")
    await client.close()
    return (end - began) / (time.perf_counter() - began_at) / 1e9


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
