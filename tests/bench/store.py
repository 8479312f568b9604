"""R3, R4, R12 and R16: recovery, synchronous flushes and many queues of the engine's store."""

import tempfile
from typing import Any

from tests.bench.measure import BLOCK_COUNT, Measure, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import run_json

IN_FLIGHT = 64
MANY_QUEUES, FEW_QUEUES = 10_000, 8
APPENDS_A_BLOCK = 200_000
MEMORY = 2 << 30


def measure_store() -> list[Measure]:
    """Run each program in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        return [
            *measure_recovery(directory),
            *measure_sync_flush(directory),
            *measure_queues(directory),
        ]


def measure_recovery(directory: str) -> list[Measure]:
    warm_memory(MEMORY)
    blocks = run_json("recovery", directory, str(BLOCK_COUNT))
    return [
        ratio(
            "R3", "recovery of 1 GiB, queues made anew / checksum of it, from memory", blocks,
            "recovery_gb_per_s", "crc_gb_per_s", floor=0.40,
        ),
        ratio(
            "R3b", "the same from the disk / plain read of it from the disk", blocks,
            "cold_recovery_gb_per_s", "disk_gb_per_s", floor=0.60,
        ),
        Measure(
            "R16", "store ready after a clean stop",
            median([block["clean_open_s"] for block in blocks]), " s", ceiling=3.0,
        ),
        Measure(
            "R16", "store ready after a crash with 1 GiB unchecked",
            median([block["unclean_open_s"] for block in blocks]), " s", ceiling=4.0,
        ),
    ]  # fmt: skip


def measure_sync_flush(directory: str) -> list[Measure]:
    warm_memory(MEMORY)
    blocks = run_json("sync_flush", directory, str(BLOCK_COUNT))
    for block in blocks:
        block["most_acks_per_s"] = block["syncs_per_s"] * IN_FLIGHT
    written = [block["device_bytes_per_byte"] for block in blocks]
    steady = ratio(
        "R4", "synchronously flushed messages, 64 in flight, segments used again / 64 x fdatasync",
        blocks, "acks_per_s", "most_acks_per_s", floor=0.35,
    )  # fmt: skip
    first_use = [block["first_use_acks_per_s"] / block["most_acks_per_s"] for block in blocks]
    steady.facts["on blocks written for the first time"] = f"{median(first_use):.3f}"
    measures = [steady]
    if None not in written:
        measures.append(
            Measure(
                "R4b", "bytes to the device / bytes appended", median(written), ceiling=2.5,
                facts={"blocks": spread(written)},
            )
        )  # fmt: skip
    return measures


def measure_queues(directory: str) -> list[Measure]:
    blocks = []
    for _ in range(BLOCK_COUNT):
        block = {}
        for name, count in (("few", FEW_QUEUES), ("many", MANY_QUEUES)):
            warm_memory(MEMORY)
            told = run_json("queues", directory, str(count), str(APPENDS_A_BLOCK), "1")
            block[f"{name}_per_s"] = told["appends_per_s"][0]
            block[f"{name}_cached"] = told["cached_bytes_per_queue"]
        blocks.append(block)
    return [
        ratio(
            "R12", "appends spread over 10 000 queues / over 8", blocks,
            "many_per_s", "few_per_s", floor=0.60,
        ),
        Measure(
            "R12b", "page cache of an idle queue",
            median([block["many_cached"] for block in blocks]) / 1024, " KiB", ceiling=64.0,
        ),
    ]  # fmt: skip


def ratio(
    name: str, title: str, blocks: list[dict[str, Any]], above: str, below: str, *, floor: float
) -> Measure:
    """Divide one figure of each block by another, and print the medians of both."""
    ratios = [block[above] / block[below] for block in blocks]
    return Measure(
        name,
        title,
        median(ratios),
        floor=floor,
        facts={
            "blocks": spread(ratios),
            above: median([block[above] for block in blocks]),
            below: median([block[below] for block in blocks]),
        },
        blocks=blocks,
    )
