"""What the stock message store makes of the operations that our engine's ratios are about.

Facts without limits: they say where the peer stands on the machine and in the hour of a run. The
store is driven without a broker, in a Java process for each case (`tests/interop`, `StoreBench`).
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.measure import BLOCK_COUNT, Measure, median, spread
from tests.bench.memory import warm_memory
from tests.interop.java import VERSIONS, build
from tests.interop.stock_store import Event, StockStore

JVM_OPTIONS = ("-Xms1g", "-Xmx1g")
"""Both compilers and the default collector, as a broker has them."""
MIB = 1 << 20
BODY_SIZE = 1024
APPEND_SIZES = ((1024, "1 KiB", 128 * MIB), (128, "128 B", 32 * MIB), (4096, "4 KiB", 128 * MIB))
"""Body size, its name, bytes of a block."""
WARM_UP_BLOCKS = 4
QUEUE_COUNTS = (8, 10_000)
IN_FLIGHT_COUNT = 64
SYNC_COUNT = 20_000
OPENING_COUNT = 3
MEMORY = 4 << 30
"""What a case may fill: its log, twice while a segment is made ahead, and the heap."""
UNCHECKED_BYTES = 1_060_000_000
"""Close to the end of one segment, so that recovery has to check all of it."""


def measure_stock_store() -> list[Measure]:
    """Run all cases one after the other, each in a fresh directory."""
    build()
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        bench = StockBench(StockStore(Path(directory), JVM_OPTIONS), Path(directory) / "store")
        return [*bench.appends(), bench.sync_appends(), *bench.openings(), *bench.many_queues()]


class StockBench:
    """The cases, each giving its measures."""

    def __init__(self, stock: StockStore, directory: Path) -> None:
        self._stock, self._directory = stock, directory

    def appends(self) -> Iterator[Measure]:
        for body_size, name, block_bytes in APPEND_SIZES:
            blocks = self._append_blocks(body_size=body_size, block_bytes=block_bytes)
            yield measure(
                "R1" if body_size == BODY_SIZE else "R1b",
                f"append of {name} messages, one thread",
                blocks,
                "gb_per_s",
                " GB/s",
                beside=("messages_per_s", "dispatched_per_s"),
            )

    def many_queues(self) -> list[Measure]:
        few, many = (self._appends_over(count) for count in QUEUE_COUNTS)
        ratio = Measure(
            "R12",
            f"stock {VERSIONS[0]}: the second / the first",
            many.value / few.value,
            facts={"read-ahead KiB": read_ahead_kib(self._directory)},
        )
        return [few, many, ratio]

    def _appends_over(self, count: int) -> Measure:
        blocks = self._append_blocks(body_size=BODY_SIZE, block_bytes=128 * MIB, queue_count=count)
        return measure("R12", f"appends over {count} queues", blocks, "dispatched_per_s", " /s")

    def sync_appends(self) -> Measure:
        with self._fresh_directory():
            blocks = self._run(
                "sync",
                flush="SYNC_FLUSH",
                in_flight=IN_FLIGHT_COUNT,
                warm_up_count=SYNC_COUNT,
                count=SYNC_COUNT,
                block_count=BLOCK_COUNT,
            )["block"]
        title = f"SYNC_FLUSH appends, {IN_FLIGHT_COUNT} in flight"
        return measure("R4", title, blocks, "messages_per_s", " /s")

    def openings(self) -> Iterator[Measure]:
        for stop, title in (("clean", "a clean stop"), ("kill", "a kill with 1 GiB unchecked")):
            with self._fresh_directory():
                self._run("fill", bytes=UNCHECKED_BYTES, stop=stop)
                blocks = [self._open(stop) for _ in range(OPENING_COUNT)]
            yield measure("R16", f"ready after {title}", blocks, "ready_seconds", " s")
        with self._fresh_directory():
            self._run("fill", bytes=UNCHECKED_BYTES, stop="kill")
            blocks = []
            for _ in range(OPENING_COUNT):
                self._forget_what_is_derived()
                blocks.append(self._open("kill"))
        yield measure(
            "R3", "recovery of 1 GiB, queues and index made anew", blocks, "gb_per_s", " GB/s"
        )

    def _open(self, stop: str) -> Event:
        (opened,) = self._run("ready", stop=stop)["result"]
        return opened

    def _forget_what_is_derived(self) -> None:
        shutil.rmtree(self._directory / "consumequeue")
        shutil.rmtree(self._directory / "index")
        (self._directory / "checkpoint").unlink()

    def _append_blocks(self, *, block_bytes: int, **options: Any) -> list[Event]:
        with self._fresh_directory():
            return self._run(
                "append",
                warm_up_bytes=WARM_UP_BLOCKS * block_bytes,
                block_bytes=block_bytes,
                block_count=BLOCK_COUNT,
                **options,
            )["block"]

    def _run(self, case: str, **options: Any) -> dict[str, list[Event]]:
        options = {"body_size": BODY_SIZE, **options}
        return self._stock.run("bench", self._directory, case=case, **options)

    @contextmanager
    def _fresh_directory(self) -> Iterator[None]:
        warm_memory(MEMORY)
        try:
            yield
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)


def measure(
    name: str, title: str, blocks: list[Event], field: str, unit: str, beside: Sequence[str] = ()
) -> Measure:
    """Take the median of a field of the blocks, and of others to print beside it."""
    values = [block[field] for block in blocks]
    medians = {other: round(median([block[other] for block in blocks])) for other in beside}
    return Measure(
        name,
        f"stock {VERSIONS[0]}: {title}",
        median(values),
        unit,
        facts={"blocks": spread(values), **medians},
        blocks=blocks,
    )


def read_ahead_kib(directory: Path) -> str:
    """Say what the machine reads ahead of a first touch, which decides what a queue file costs."""
    device = directory.parent.stat().st_dev
    path = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
    return path.read_text().strip() if path.exists() else "unknown"
