"""R14: a consumer that reads the log from the disk, and what sends notice of it."""

import json
import os
import re
import selectors
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from backend.remoting.command import request
from backend.remoting.request_code import RequestCode
from tests.bench.measure import BLOCK_COUNT, Measure, UnsteadyError, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import EXAMPLES, Server
from tests.bench.pipelined import running_agent
from tests.bench.pulls import connected, pull_fields

TOPICS = ("ColdA", "ColdB", "ColdC", "ColdD")
"""Written side by side, so that their messages alternate in the log, and read side by side."""

COLD_BYTES = 1 << 30
BODY_SIZE = 8_000
TAIL_BODY_SIZE = 1024
ALONE_S = 2.0
"""Sends without a reader, before and after it: about as many as beside it."""

READ_SIZE = 1 << 20
TIMEOUT_S = 30
FILL_TIMEOUT_S = 300
NEXT_OFFSET = re.compile(rb'"nextBeginOffset":"([0-9]+)"')
DISK_DIFFERENCE_MAX = 0.20
BLOCK_REPEATS_MAX = 3
"""A block is void when a plain read of the disk differs by more before and after it, and is
repeated so often (targets.md 1.3)."""

VALID_BLOCKS_MIN = 7
STOLEN_MAX = 0.01
"""A host that limits a machine by time stops it for some 15 ms of each 100 when it reads and
computes much at once. The slowest sends then show nothing else."""


@dataclass(frozen=True, slots=True)
class Block:
    """Plain reads around a catch-up, in GB/s, and the 99th percentile of sends, in milliseconds."""

    disk_before: float
    disk_after: float
    catch_up: float
    p99_alone: tuple[float, float]
    p50_beside: float
    p99_beside: float
    stolen: float
    """What share of the processors the host of a virtual machine took during the catch-up."""

    @property
    def speed(self) -> float:
        return 2 * self.catch_up / (self.disk_before + self.disk_after)

    @property
    def delay(self) -> float:
        return 2 * self.p99_beside / sum(self.p99_alone)

    @property
    def is_void(self) -> bool:
        before, after = self.disk_before, self.disk_after
        return abs(before - after) > DISK_DIFFERENCE_MAX * max(before, after)


def measure_catch_up() -> Iterator[Measure]:
    """Read a topic that is not in the agent's memory, while another topic takes sends."""
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as name:
        directory = Path(name)
        warm_memory(2 * COLD_BYTES)
        with running_agent(directory) as agent:
            fill(agent)
        blocks: list[Block] = []
        valid: list[Block] = []
        while len(valid) < BLOCK_COUNT and len(blocks) < BLOCK_COUNT * (1 + BLOCK_REPEATS_MAX):
            block = measure_block(directory)
            blocks.append(block)
            if not block.is_void:
                valid.append(block)
    if len(valid) < VALID_BLOCKS_MIN:
        raise UnsteadyError(len(valid), len(blocks), "a read of the disk")
    yield from report(blocks, valid)


def measure_block(directory: Path) -> Block:
    log = directory / "store" / "commitlog"
    disk_before = disk_rate(log)
    drop_from_memory(directory)
    with running_agent(directory) as agent:
        with tail_sends(agent) as before:
            time.sleep(ALONE_S)
        with tail_sends(agent) as beside:
            stolen_before, began_at = stolen_s(), time.perf_counter()
            catch_up = catch_up_rate(agent)
            stolen = (stolen_s() - stolen_before) / (time.perf_counter() - began_at)
        with tail_sends(agent) as after:
            time.sleep(ALONE_S)
    return Block(
        disk_before=disk_before,
        disk_after=disk_rate(log),
        catch_up=catch_up,
        p99_alone=(before["p99_ms"], after["p99_ms"]),
        p50_beside=beside["p50_ms"],
        p99_beside=beside["p99_ms"],
        stolen=stolen,
    )


def stolen_s() -> float:
    """How long a processor of this machine was taken away, on average of all, since it started."""
    return psutil.cpu_times().steal / psutil.cpu_count()


def fill(agent: Server) -> None:
    """Write the topics, all at the same time."""
    count = str(COLD_BYTES // len(TOPICS) // BODY_SIZE)
    loads = [
        subprocess.Popen(
            [EXAMPLES / "load", agent.address, topic, "16", str(BODY_SIZE), count, "0"],
            stdout=subprocess.DEVNULL,
        )
        for topic in TOPICS
    ]
    try:
        if any(load.wait(FILL_TIMEOUT_S) for load in loads):
            raise RuntimeError("the agent did not take all that was to be read")
    finally:
        for load in loads:
            load.kill()
            load.wait()


@dataclass(slots=True)
class Puller:
    """A consumer's connection to one queue, which asks on from where the last answer ended."""

    topic: str
    stream: socket.socket
    offset: int = 0
    answer: bytearray = field(default_factory=bytearray)

    def ask(self) -> None:
        fields = pull_fields(self.topic, self.offset)
        self.answer.clear()
        self.stream.sendall(request(RequestCode.PULL_MESSAGE, opaque=1, ext=fields))

    def take(self, buffer: memoryview) -> int | None:
        """Take what has come, and ask for more where an answer is whole; None at the end."""
        size = self.stream.recv_into(buffer)
        if not size:
            raise ConnectionError("the agent hung up")
        self.answer += buffer[:size]
        if len(self.answer) < 4 or len(self.answer) < 4 + struct.unpack_from(">i", self.answer)[0]:
            return size
        if not self.answer.startswith(b'{"code":0,', 8):
            return None
        found = NEXT_OFFSET.search(self.answer, 0, 1024)
        if found is None:
            raise RuntimeError("an answer without its next offset")
        self.offset = int(found[1])
        self.ask()
        return size


def catch_up_rate(agent: Server) -> float:
    """Read all topics to their ends, and return GB/s."""
    buffer = memoryview(bytearray(READ_SIZE))
    size = 0
    with ExitStack() as stack, selectors.DefaultSelector() as waiting:
        pullers = [Puller(topic, stack.enter_context(connected(agent))) for topic in TOPICS]
        started_at = time.perf_counter()
        for puller in pullers:
            waiting.register(puller.stream, selectors.EVENT_READ, puller)
            puller.ask()
        while waiting.get_map():
            for key, _ in waiting.select(TIMEOUT_S):
                taken = key.data.take(buffer)
                if taken is None:
                    waiting.unregister(key.fileobj)
                else:
                    size += taken
        elapsed_s = time.perf_counter() - started_at
    if size < COLD_BYTES * 9 // 10:
        raise RuntimeError(f"only {size} bytes were read")
    return size / elapsed_s / 1e9


@contextmanager
def tail_sends(agent: Server) -> Iterator[dict[str, Any]]:
    """Send as long as the block lasts; what is given holds the percentiles afterwards."""
    told: dict[str, Any] = {}
    # It measures how long the agent takes, not how long this program waits for a processor.
    process = subprocess.Popen(
        ["nice", "-n", "-10", EXAMPLES / "tail", agent.address, "Hot", str(TAIL_BODY_SIZE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield told
        out, _ = process.communicate()
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise RuntimeError(f"the sends ended with {process.returncode}")
    told |= json.loads(out)


def disk_rate(log: Path) -> float:
    """Read the beginning of the log from the disk, and return GB/s."""
    segment = min(log.glob("0*"))
    drop_from_memory(log)
    buffer = bytearray(READ_SIZE)
    size = min(segment.stat().st_size, COLD_BYTES * 9 // 10)
    with segment.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        started_at = time.perf_counter()
        for _ in range(0, size, READ_SIZE):
            file.readinto(buffer)
        return size / (time.perf_counter() - started_at) / 1e9


def drop_from_memory(directory: Path) -> None:
    """Write to the disk what the page cache holds of all files below, and have it forgotten."""
    for path in directory.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def report(blocks: list[Block], valid: list[Block]) -> Iterator[Measure]:
    yield Measure(
        "R14",
        "catch-up by a consumer of 4 queues from the disk / plain read",
        median([block.speed for block in valid]),
        floor=0.4,
        facts={
            "blocks": spread([block.speed for block in valid]),
            "void": len(blocks) - len(valid),
            "catch-up GB/s": round(median([block.catch_up for block in valid]), 3),
            "disk GB/s": round(median([block.disk_before for block in valid]), 3),
            "sends beside it, p50 ms": round(median([block.p50_beside for block in valid]), 3),
        },
        blocks=[asdict(block) for block in blocks],
    )
    quiet = [block for block in valid if block.stolen <= STOLEN_MAX]
    if len(quiet) < VALID_BLOCKS_MIN:
        raise UnsteadyError(len(quiet), len(valid), "a machine")
    yield Measure(
        "R14",
        "99th percentile of sends beside a catch-up / without",
        median([block.delay for block in quiet]),
        ceiling=4.0,
        facts={
            "blocks": spread([block.delay for block in quiet]),
            "beside ms": round(median([block.p99_beside for block in quiet]), 3),
            "alone ms": round(median([sum(block.p99_alone) / 2 for block in quiet]), 3),
        },
    )
