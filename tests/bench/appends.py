"""R1, R1b and R2: records appended over bytes copied, and what the Python face leaves of that."""

import shutil
import tempfile
import time
from pathlib import Path

from regent_engine import Store

from tests.bench.measure import BLOCK_COUNT, Measure, median, spread
from tests.bench.memory import warm_memory
from tests.bench.native import run_json

BODY_SIZE = 1024
OTHER_SIZES = (128, 4096)
BATCH_SIZE = 64
QUEUE_COUNT = 8
BLOCK_BYTES = 112 << 20
WARM_BYTES = 32 << 20
"""Moved before what counts, as by the native program: a processor that slept needs some
milliseconds to be as fast as it can."""

TURN_COUNT = 2 * BLOCK_COUNT + 1
"""A block takes a 60th of a second, and what the machine does meanwhile moves it by a quarter."""

SEGMENT_BYTES = 256 << 20
BLOCK_MEMORY = 512 << 20
"""What a block takes of the page cache."""

POPULATE_TIMEOUT_S = 60
PROPERTIES = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02"


def measure_appends() -> list[Measure]:
    """Interleave the native program with blocks through Python, on one file system."""
    blocks: dict[int, list[dict[str, float]]] = {size: [] for size in (BODY_SIZE, *OTHER_SIZES)}
    through_python = []
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        for _ in range(TURN_COUNT):
            for size in OTHER_SIZES:
                blocks[size].append(native_block(directory, size))
            before = native_block(directory, BODY_SIZE)
            warm_memory(BLOCK_MEMORY)
            rate = python_block(Path(directory) / "store")
            after = native_block(directory, BODY_SIZE)
            blocks[BODY_SIZE] += [before, after]
            through_python.append(
                {
                    "gb_per_s": rate,
                    "native_gb_per_s": (before["append_gb_per_s"] + after["append_gb_per_s"]) / 2,
                }
            )
    ratios = [block["gb_per_s"] / block["native_gb_per_s"] for block in through_python]
    return [
        append_measure("R1", BODY_SIZE, blocks[BODY_SIZE], floor=0.30),
        append_measure("R1b", 128, blocks[128], floor=0.25),
        append_measure("R1b", 4096, blocks[4096], floor=0.30),
        Measure(
            "R2",
            "append through Python in batches of 64 / R1's rate",
            median(ratios),
            floor=0.70,
            facts={
                "blocks": spread(ratios),
                "GB/s": round(median([block["gb_per_s"] for block in through_python]), 3),
            },
            blocks=through_python,
        ),
    ]


def native_block(directory: str, body_size: int) -> dict[str, float]:
    warm_memory(BLOCK_MEMORY)
    figures: dict[str, float] = run_json("limits", directory, str(body_size))
    return figures


def append_measure(
    name: str, body_size: int, blocks: list[dict[str, float]], *, floor: float
) -> Measure:
    """Compare appends with copies on the clock of their thread; tell of the wall's clock."""
    ratios = [block["append_gb_per_s"] / block["memcpy_gb_per_s"] for block in blocks]
    wall = [block["append_wall_gb_per_s"] / block["memcpy_wall_gb_per_s"] for block in blocks]
    return Measure(
        name,
        f"append of {body_size} byte records / memcpy of as much",
        median(ratios),
        floor=floor,
        facts={
            "blocks": spread(ratios),
            "by the wall's clock": round(median(wall), 3),
            "memcpy GB/s": median([block["memcpy_gb_per_s"] for block in blocks]),
            "append GB/s": median([block["append_gb_per_s"] for block in blocks]),
            "ns a message": median([block["append_ns"] for block in blocks]),
        },
        blocks=blocks,
    )


def python_block(path: Path) -> float:
    """Append one block to a fresh store, and return GB/s.

    Its pages are touched just before, as the native program's are: one that the kernel has
    written back meanwhile costs a fault more.
    """
    store = Store(str(path), segment_size_bytes=SEGMENT_BYTES, populate_ahead_bytes=SEGMENT_BYTES)
    append_block(store, block_bytes=1 << 20)
    deadline = time.monotonic() + POPULATE_TIMEOUT_S
    while store.populated_position < SEGMENT_BYTES:
        if time.monotonic() > deadline:
            raise TimeoutError("the segment was not populated within a minute")
        time.sleep(0.01)
    append_block(store, block_bytes=WARM_BYTES)
    rate = append_block(store)
    store.close()
    shutil.rmtree(path)
    return rate


def append_block(store: Store, *, block_bytes: int = BLOCK_BYTES) -> float:
    """Append a block and return GB/s of records on this thread's clock, as the native program."""
    bodies = [b"\x42" * BODY_SIZE] * BATCH_SIZE
    batch_count = block_bytes // (BATCH_SIZE * BODY_SIZE)
    started_at_position = store.max_position
    started_at = time.thread_time()
    for turn in range(batch_count):
        store.append_many("Benchmark", turn % QUEUE_COUNT, bodies, PROPERTIES)
    elapsed_s = time.thread_time() - started_at
    return (store.max_position - started_at_position) / elapsed_s / 1e9
