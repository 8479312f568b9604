"""R1 and R2: records appended over bytes copied, and what the Python face leaves of that."""

import shutil
import tempfile
import time
from pathlib import Path

from regent_engine import Store

from tests.bench.measure import BLOCK_COUNT, Measure, median, spread
from tests.bench.native import run_json

BODY_SIZE = 1024
BATCH_SIZE = 64
QUEUE_COUNT = 8
BLOCK_BYTES = 128 << 20
SEGMENT_BYTES = 256 << 20
POPULATE_TIMEOUT_S = 60
PROPERTIES = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02"


def measure_appends() -> list[Measure]:
    """Interleave the native program with blocks through Python, on one file system."""
    native, through_python = [], []
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        for _ in range(BLOCK_COUNT):
            native.append(run_json("limits", directory))
            through_python.append(python_block(Path(directory) / "store"))
    ratios = [limits["append_over_memcpy"] for limits in native]
    rates = [limits["append_1kib_gb_per_s"] for limits in native]
    python_ratios = [mine / rate for mine, rate in zip(through_python, rates, strict=True)]
    return [
        Measure(
            "R1",
            "append of 1 KiB records / memcpy of 1 KiB",
            median(ratios),
            floor=0.30,
            facts={
                "blocks": spread(ratios),
                "memcpy GB/s": median([limits["memcpy_1kib_gb_per_s"] for limits in native]),
                "append GB/s": median(rates),
                "ns a message": median([limits["append_1kib_ns"] for limits in native]),
            },
        ),
        Measure(
            "R2",
            "append through Python in batches of 64 / R1's rate",
            median(python_ratios),
            floor=0.70,
            facts={"blocks": spread(python_ratios), "GB/s": round(median(through_python), 3)},
        ),
    ]


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
    rate = append_block(store)
    store.close()
    shutil.rmtree(path)
    return rate


def append_block(store: Store, *, block_bytes: int = BLOCK_BYTES) -> float:
    """Append a block and return GB/s of records on this thread's clock, as the native program."""
    bodies = [b"\x42" * BODY_SIZE] * BATCH_SIZE
    properties = [PROPERTIES] * BATCH_SIZE
    started_at_position, turn = store.max_position, 0
    started_at = time.thread_time()
    while store.max_position - started_at_position < block_bytes:
        store.append_many("Benchmark", turn % QUEUE_COUNT, bodies, properties)
        turn += 1
    elapsed_s = time.thread_time() - started_at
    return (store.max_position - started_at_position) / elapsed_s / 1e9
