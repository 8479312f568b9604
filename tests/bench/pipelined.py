"""R6b: one connection with 64 sends in flight through the agent, over a bare echo."""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.measure import Measure, median, spread
from tests.bench.native import run_json, running_echo

ROOT = Path(__file__).resolve().parents[2]
IN_FLIGHT = 64
BODY_SIZE = 1024
BLOCK_COUNT = 15
BLOCK_SENDS = 20_000
"""What fits the 32 MiB that a store touches ahead of its writer: as in R1, records go to pages that
are there. A page that must first be found, and in a virtual machine be backed by the host, costs
more than all the rest of a send; how fast that goes is printed as a fact, from a longer run."""

BLOCK_ECHOES = 100_000
"""Makes the echo's blocks about as long, so that what else the machine does hits both alike."""

PREPARE_S = 0.4
"""Time for the store to touch the pages of the next block."""

SUSTAINED_SENDS = 400_000
START_TIMEOUT_S = 30
SEND_CODE = 310
"""An echo answers a send with the send."""


ECHO_DIFFERENCE_MAX = 0.20
BLOCK_REPEATS_MAX = 3
"""A block whose two echoes differ by more is void, and repeated so often (targets.md 1.3)."""


@dataclass(frozen=True, slots=True)
class Block:
    """Sends through the agent between two measurements of the echo."""

    before: float
    sends: float
    after: float

    @property
    def echoes(self) -> float:
        return (self.before + self.after) / 2

    @property
    def is_void(self) -> bool:
        return abs(self.before - self.after) > ECHO_DIFFERENCE_MAX * max(self.before, self.after)


def measure_pipelined() -> list[Measure]:
    """Interleave blocks against the echo and the agent, the echo on both sides of each."""
    with (
        tempfile.TemporaryDirectory(prefix="regent-bench-") as directory,
        running_echo() as echo,
        running_agent(Path(directory)) as agent,
    ):
        run_load(agent, answer_code=0)
        blocks = [measure_block(echo, agent) for _ in range(BLOCK_COUNT)]
        sustained = run_load(agent, answer_code=0, count=SUSTAINED_SENDS)
    ratios = [block.sends / block.echoes for block in blocks]
    return [
        Measure(
            "R6b",
            "1 connection x 64 sends of 1 KiB through the agent / echo",
            median(ratios),
            floor=0.25,
            facts={
                "blocks": spread(ratios),
                "still void": sum(block.is_void for block in blocks),
                "sends/s": round(median([block.sends for block in blocks])),
                "echoes/s": round(median([block.echoes for block in blocks])),
                "sends/s into pages not touched before": round(sustained),
            },
        )
    ]


def measure_block(echo: str, agent: str) -> Block:
    """Measure one block, again while it is void."""
    for _ in range(1 + BLOCK_REPEATS_MAX):
        time.sleep(PREPARE_S)
        block = Block(
            before=run_load(echo, answer_code=SEND_CODE, count=BLOCK_ECHOES),
            sends=run_load(agent, answer_code=0),
            after=run_load(echo, answer_code=SEND_CODE, count=BLOCK_ECHOES),
        )
        if not block.is_void:
            break
    return block


def run_load(address: str, *, answer_code: int, count: int = BLOCK_SENDS) -> float:
    """Load a server for one block and return answers a second."""
    result = run_json(
        "load", address, "BenchTopic", str(IN_FLIGHT), str(BODY_SIZE), str(count),
        str(answer_code),
    )  # fmt: skip
    rate: float = result["frames_per_second"]
    return rate


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def running_agent(directory: Path) -> Iterator[str]:
    """Run a real agent without name servers and give its address."""
    port = free_port()
    config = directory / "broker.conf"
    config.write_text(
        "brokerClusterName=bench\n"
        "brokerName=bench-a\n"
        "brokerId=0\n"
        "brokerIP1=127.0.0.1\n"
        f"listenPort={port}\n"
        f"storePathRootDir={directory / 'store'}\n"
    )
    with (directory / "broker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers.broker", "-c", str(config)], cwd=ROOT, stderr=log
        )
    try:
        await_listening(process, port)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=START_TIMEOUT_S)


def await_listening(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise TimeoutError("the agent did not start") from error
            time.sleep(0.05)
        else:
            return
