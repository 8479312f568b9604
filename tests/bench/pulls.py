"""R5 and R5b: pulls of messages in memory through the agent, over sendfile of as much."""

import socket
import struct
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from backend.remoting.command import request
from backend.remoting.request_code import RequestCode
from tests.bench.measure import Measure, UnsteadyError, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import Server, run_json, running
from tests.bench.pipelined import running_agent

MESSAGES_A_PULL = 32
"""As many as stock hands out at once."""

TOPIC_BYTES = 64 << 20
BLOCK_BYTES = 512 << 20
BLOCK_MEMORY = 64 << 20
RECORD_OVERHEAD = 192
"""What topic, properties and header of a record take, or a little more."""

IN_FLIGHT = 8
"""One pull for each queue of a topic by default, as in R7d. Sendfile waits for no request: with few
pulls in flight, agent and reader wait for one another, and the figure is how fast they wake."""

QUEUE_ID = "1"
"""Where the loading program sends to."""

READ_SIZE = 1 << 20
TIMEOUT_S = 30
BLOCK_COUNT = 9
VALID_BLOCKS_MIN = 7
LIMIT_DIFFERENCE_MAX = 0.20
BLOCK_REPEATS_MAX = 3
"""A block is void when sendfile differs by more before and after it, and is repeated so often
(targets.md 1.3)."""


@dataclass(frozen=True, slots=True)
class Block:
    """GB/s of pulls twice, between two measurements of sendfile."""

    before: float
    pulls: tuple[float, float]
    after: float

    @property
    def ratio(self) -> float:
        return sum(self.pulls) / (self.before + self.after)

    @property
    def is_void(self) -> bool:
        return abs(self.before - self.after) > LIMIT_DIFFERENCE_MAX * max(self.before, self.after)


def measure_pulls() -> Iterator[Measure]:
    """Fill two topics through the agent, then read them as fast as one socket takes them."""
    with (
        tempfile.TemporaryDirectory(prefix="regent-bench-") as directory,
        running("sendfile") as limit,
        running_agent(Path(directory)) as agent,
    ):
        yield measure_answers("R5", limit, agent, answer_size=256 << 10, floor=0.50)
        yield measure_answers("R5b", limit, agent, answer_size=32 << 10, floor=0.40)


def measure_answers(
    name: str, limit: Server, agent: Server, *, answer_size: int, floor: float
) -> Measure:
    warm_memory(2 * TOPIC_BYTES)
    frames = fill(agent, f"Pulled{answer_size}", answer_size)
    blocks: list[Block] = []
    valid: list[Block] = []
    while len(valid) < BLOCK_COUNT and len(blocks) < BLOCK_COUNT * (1 + BLOCK_REPEATS_MAX):
        warm_memory(BLOCK_MEMORY)
        block = Block(
            before=bulk_rate(limit, answer_size),
            pulls=(pull_rate(agent, frames), pull_rate(agent, frames)),
            after=bulk_rate(limit, answer_size),
        )
        blocks.append(block)
        if not block.is_void:
            valid.append(block)
    if len(valid) < VALID_BLOCKS_MIN:
        raise UnsteadyError(len(valid), len(blocks), "a sendfile")
    ratios = [block.ratio for block in valid]
    return Measure(
        name,
        f"pulls of {answer_size >> 10} KiB through the agent / sendfile of as much",
        median(ratios),
        floor=floor,
        facts={
            "blocks": spread(ratios),
            "void": len(blocks) - len(valid),
            "pull GB/s": round(median([rate for block in valid for rate in block.pulls]), 3),
            "sendfile GB/s": round(median([block.before for block in valid]), 3),
        },
        blocks=[asdict(block) for block in blocks],
    )


def fill(agent: Server, topic: str, answer_size: int) -> list[bytes]:
    """Send a topic full, and return the pulls that read it once."""
    body_size = answer_size // MESSAGES_A_PULL - RECORD_OVERHEAD
    count = TOPIC_BYTES // (answer_size // MESSAGES_A_PULL)
    run_json("load", agent.address, topic, "64", str(body_size), str(count), "0")
    return [
        request(RequestCode.PULL_MESSAGE, opaque=offset, ext=pull_fields(topic, offset))
        for offset in range(0, count, MESSAGES_A_PULL)
    ]


def pull_fields(topic: str, offset: int) -> dict[str, str]:
    return {
        "consumerGroup": "bench",
        "topic": topic,
        "queueId": QUEUE_ID,
        "queueOffset": str(offset),
        "maxMsgNums": str(MESSAGES_A_PULL),
        "sysFlag": "4",
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subscription": "*",
        "subVersion": "0",
    }


def pull_rate(agent: Server, frames: list[bytes]) -> float:
    """Read a block of answers, each of which must hold all messages asked for, and return GB/s."""
    with connected(agent) as reader:
        buffer = memoryview(bytearray(READ_SIZE))
        waiting = deque(frames)
        reader.sendall(b"".join(waiting.popleft() for _ in range(IN_FLIGHT)))
        size_min = TOPIC_BYTES // len(frames) * 9 // 10
        size, frame_left, head = 0, 0, b""
        started_at = time.perf_counter()
        while size < BLOCK_BYTES:
            chunk = buffer[: reader.recv_into(buffer)]
            if not chunk:
                raise ConnectionError("the agent hung up")
            size += len(chunk)
            answered = 0
            while chunk:
                if not frame_left:
                    # The length of a frame may itself arrive in two pieces.
                    head, chunk = head + bytes(chunk[: 4 - len(head)]), chunk[4 - len(head) :]
                    if len(head) < 4:
                        break
                    (frame_left,) = struct.unpack(">i", head)
                    head = b""
                    if frame_left < size_min:
                        raise RuntimeError(f"an answer of only {frame_left} bytes")
                taken = min(frame_left, len(chunk))
                frame_left, chunk = frame_left - taken, chunk[taken:]
                answered += not frame_left
            if answered:
                if len(waiting) < answered:
                    waiting.extend(frames)
                reader.sendall(b"".join(waiting.popleft() for _ in range(answered)))
        elapsed_s = time.perf_counter() - started_at
    return size / elapsed_s / 1e9


def bulk_rate(limit: Server, block_size: int) -> float:
    """Read as much of what sendfile sends, and return GB/s."""
    with connected(limit) as reader:
        buffer = memoryview(bytearray(READ_SIZE))
        size = 0
        started_at = time.perf_counter()
        reader.sendall(struct.pack(">I", block_size))
        while size < BLOCK_BYTES:
            received = reader.recv_into(buffer)
            if not received:
                raise ConnectionError("the program hung up")
            size += received
        return size / (time.perf_counter() - started_at) / 1e9


def connected(server: Server) -> socket.socket:
    host, port = server.address.rsplit(":", 1)
    reader = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
    reader.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return reader
