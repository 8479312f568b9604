"""Transactions a second, ours beside stock's: a half message, and its commit as clients send it.

Two processes send windows of half messages, and commit each window one-way once its answers are
there. A block ends when consumers can see all of its messages.
"""

import asyncio
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from regent_engine import Command, parse_offset_message_id

from backend.remoting.request_code import RequestCode
from tests.bench.clients.systems import OURS, STOCK, Setup, System, running
from tests.bench.failover.group import GroupError
from tests.bench.measure import Measure, median, spread
from tests.bench.special.bulk import Bulk

SETUP = Setup("transactions")
CLIENT_COUNT = 2
WINDOW = 64
BLOCK_COUNT = 5
TRANSACTION_COUNT = 10_000
"""Of each client, in a block."""

BODY = b"x" * 128
HALF, COMMIT = 4, 8
SEEN_TIMEOUT_S = 60.0
TOPIC = "Booked"


@dataclass(frozen=True, slots=True)
class Block:
    """Transactions a second of a system, and the processor time of its broker for each, in µs."""

    rate: float
    cpu_us: float


def measure_transactions() -> list[Measure]:
    """Interleave blocks of both systems."""
    return asyncio.run(_measure())


async def _measure() -> list[Measure]:
    blocks: dict[str, list[Block]] = {OURS: [], STOCK: []}
    with (
        tempfile.TemporaryDirectory(prefix="regent-bench-") as directory,
        ProcessPoolExecutor(CLIENT_COUNT, mp_context=get_context("spawn")) as clients,
    ):
        async with running(SETUP, Path(directory), before=None) as systems:
            for one in systems:
                await one.create_topic(TOPIC)
            for index in range(BLOCK_COUNT + 1):
                for one in systems:
                    block = await _measure_block(one, clients)
                    # The first block warms up.
                    if index:
                        blocks[one.label].append(block)
    ours, stock = blocks[OURS], blocks[STOCK]
    ratios = [one.rate / other.rate for one, other in zip(ours, stock, strict=True)]
    return [
        Measure(
            "",
            f"transactions of {len(BODY)} B, {CLIENT_COUNT} x {WINDOW}, ours / stock",
            median(ratios),
            floor=1.0,
            target=1.5,
            facts={
                "blocks": spread(ratios),
                "ours/s": round(median([one.rate for one in ours])),
                "stock/s": round(median([one.rate for one in stock])),
                "CPU of ours": f"{median([one.cpu_us for one in ours]):.0f} µs",
                "CPU of stock": f"{median([one.cpu_us for one in stock]):.0f} µs",
            },
        )
    ]


async def _measure_block(system: System, clients: ProcessPoolExecutor) -> Block:
    with Bulk(system.address) as bulk:
        wanted = bulk.count(TOPIC) + CLIENT_COUNT * TRANSACTION_COUNT
        begun, cpu_s = time.monotonic(), system.cpu_s()
        run = partial(asyncio.get_running_loop().run_in_executor, clients, transact)
        await asyncio.gather(*(run(system.address) for _ in range(CLIENT_COUNT)))
        while bulk.count(TOPIC) < wanted:
            if time.monotonic() - begun > SEEN_TIMEOUT_S:
                raise GroupError(f"{system.label} does not show all committed messages")
            await asyncio.sleep(0.005)
        took_s = time.monotonic() - begun
    count = CLIENT_COUNT * TRANSACTION_COUNT
    return Block(count / took_s, (system.cpu_s() - cpu_s) / count * 1e6)


def transact(address: str) -> None:
    """Send half messages, and commit each window once its answers are there."""
    begun = time.time_ns()
    properties = (
        {"TRAN_MSG": "true", "PGROUP": "pg", "UNIQ_KEY": f"{begun:020}{index:012}"}
        for index in range(TRANSACTION_COUNT)
    )
    with Bulk(address) as bulk:
        for answers in bulk.send(TOPIC, properties, BODY, window=WINDOW, sys_flag=HALF):
            bulk.send_one_way(RequestCode.END_TRANSACTION, map(_commit_of, answers))
        # What is one-way is done when a later request is answered.
        bulk.count(TOPIC)


def _commit_of(sent: Command) -> dict[str, str]:
    return {
        "producerGroup": "pg",
        "tranStateTableOffset": sent.ext["queueOffset"],
        "commitLogOffset": str(parse_offset_message_id(sent.ext["msgId"])[2]),
        "commitOrRollback": str(COMMIT),
        "fromTransactionCheck": "false",
        "msgId": sent.ext["transactionId"],
        "transactionId": sent.ext["transactionId"],
    }
