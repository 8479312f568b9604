"""R3, R4, R12 and R16: recovery, synchronous flushes and many queues of the engine's store."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.bench.measure import BLOCK_COUNT, Measure, UnsteadyError, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import run_json

IN_FLIGHT = 64
MANY_QUEUES, FEW_QUEUES = 10_000, 8
APPENDS_A_TURN = 200_000
TURN_COUNT = 4
"""As many as a segment holds: the first runs beside what making the queues left to do."""
MEMORY = 2 << 30
SYNC_DIFFERENCE_MAX = 0.20
SYNC_BLOCK_COUNT = 3 * BLOCK_COUNT
"""Of R4: half a second each, in which what the disk does otherwise moves it by a tenth."""
BLOCK_REPEATS_MAX = 3
"""A block of R4 is void when `fdatasync` differs by more before and after it, and is repeated so
often (targets.md 1.3)."""


def measure_store() -> Iterator[Measure]:
    """Run each program in a separate directory."""
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        yield from measure_recovery(directory)
        yield from measure_sync_flush(directory)
        yield from measure_queues(directory)


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
    all_blocks = sync_flush_blocks(directory)
    blocks = [block for block in all_blocks if not is_void(block)]
    if len(blocks) < SYNC_BLOCK_COUNT:
        raise UnsteadyError(len(blocks), len(all_blocks), "an fdatasync")
    for block in blocks:
        block["most_acks_per_s"] = block["syncs_per_s"] * IN_FLIGHT
    written = [block["device_bytes_per_byte"] for block in blocks]
    steady = ratio(
        "R4", "synchronously flushed messages, 64 in flight / 64 x fdatasync",
        blocks, "acks_per_s", "most_acks_per_s", floor=0.35,
    )  # fmt: skip
    steady = replace(steady, blocks=all_blocks)
    steady.facts["void"] = len(all_blocks) - len(blocks)
    bare = [block["bare_groups_per_s"] / block["syncs_per_s"] for block in blocks]
    steady.facts["the pages of 64 messages written and synced, and nothing else"] = (
        f"{median(bare):.3f}"
    )
    measures = [steady]
    if None not in written:
        measures.append(
            Measure(
                "R4b", "bytes to the device / bytes appended", median(written), ceiling=2.5,
                facts={"blocks": spread(written)},
            )
        )  # fmt: skip
    return measures


def sync_flush_blocks(directory: str) -> list[dict[str, Any]]:
    """Measure until enough blocks are valid, or too many were void; all of them, in their order."""
    blocks: list[dict[str, Any]] = []
    valid_count = 0
    count_max = SYNC_BLOCK_COUNT * (1 + BLOCK_REPEATS_MAX)
    while valid_count < SYNC_BLOCK_COUNT and len(blocks) < count_max:
        missing = min(SYNC_BLOCK_COUNT - valid_count, count_max - len(blocks))
        measured = run_json("sync_flush", directory, str(min(missing, BLOCK_COUNT)))
        blocks += measured
        valid_count += sum(not is_void(block) for block in measured)
    return blocks


def is_void(block: dict[str, Any]) -> bool:
    before, after = block["syncs_per_s_before"], block["syncs_per_s_after"]
    return bool(abs(before - after) > SYNC_DIFFERENCE_MAX * max(before, after))


def measure_queues(directory: str) -> list[Measure]:
    blocks = []
    for _ in range(BLOCK_COUNT):
        block = {}
        for name, count in (("few", FEW_QUEUES), ("many", MANY_QUEUES)):
            warm_memory(MEMORY)
            told = run_json("queues", directory, str(count), str(APPENDS_A_TURN), str(TURN_COUNT))
            block[f"{name}_per_s"] = median(told["appends_per_s"])
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
