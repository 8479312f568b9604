"""What a failed flush leaves in memory is not taken for what the disk has (D13).

The kernel reports once that pages could not be written, and then treats them as written.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from regent_engine import Store, StoreError

from tests.integration.broker.small_disk import FailingDisk, failing

QUEUE_FILE_BYTES = 20_000
SETTINGS: dict[str, Any] = {
    "segment_size_bytes": 8 << 20,
    "queue_file_size_bytes": QUEUE_FILE_BYTES,
    "index_enabled": False,
    "populate_ahead_bytes": 256 << 10,
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FailingDisk]:
    with failing(tmp_path) as disk:
        yield disk


def append(store: Store, numbers: range) -> None:
    for number in numbers:
        store.append("Orders", 0, body(number), b"")


def body(number: int) -> bytes:
    return b"%05d" % number * 4_000


def assert_holds(store: Store, numbers: list[int]) -> None:
    entries = store.entries("Orders", 0, 0, len(numbers) + 1)
    records = [store.record(position) for position, _, _ in entries]
    assert len(records) == len(numbers)
    for number, record in zip(numbers, records, strict=True):
        assert record is not None
        assert body(number) in record


def fail_to_flush(disk: FailingDisk, flush_mode: str) -> tuple[int, str]:
    """Give the end of what was flushed before the disk failed, and the error's code."""
    store = Store(str(disk.store), flush_mode=flush_mode, **SETTINGS)
    append(store, range(50))
    durable = store.flush()
    # The names of all files: a file system that lost its own blocks is another matter.
    os.sync()
    disk.fail()
    append(store, range(50, 200))
    with pytest.raises(StoreError, match="No space left on device") as failed:
        store.flush()
    with pytest.raises(StoreError, match="until it is reopened"):
        store.append("Orders", 0, b"refused", b"")
    with pytest.raises(StoreError, match="until it is reopened"):
        store.close()
    return durable, failed.value.code


@pytest.mark.parametrize("flush_mode", ["sync", "async"])
def test_after_a_failed_flush_a_store_holds_what_the_disk_has_and_loses_nothing_later(
    tmp_path, disk, flush_mode
):
    # As a broker does, the process ends with its store open.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as process:
        durable, code = process.submit(fail_to_flush, disk, flush_mode).result()
    disk.work()

    store = Store(str(disk.store), flush_mode=flush_mode, **SETTINGS)
    reopened_at, kept = store.max_position, store.offsets("Orders", 0)
    append(store, range(200, 260))
    acknowledged_to = store.flush()
    os.sync()

    assert code == "io"
    assert store.had_failed_flush
    # Data in blocks that the disk had already may have been written.
    assert kept is not None
    assert durable <= reopened_at
    assert 50 <= kept[1] < 200
    with disk.after_power_cut(tmp_path) as path:
        survivor = Store(str(path), flush_mode=flush_mode, **SETTINGS)
        assert survivor.max_position == acknowledged_to
        assert_holds(survivor, [*range(kept[1]), *range(200, 260)])
        survivor.close()
    store.close()
