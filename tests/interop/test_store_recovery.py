"""Our engine and the stock store make the same of a damaged or expired store."""

import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import Sizes, StockStore
from tests.long_form import few

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes()
COUNT = 300
BLANK_MAGIC = 0xCBD43194
ENTRY_SIZE = 20


@pytest.fixture(scope="module")
def killed(stock: StockStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("stock") / "store"
    stock.write(directory, sizes=SIZES, seed=11, count=COUNT, stop="kill")
    return directory


def tear_the_last_record(directory: Path) -> None:
    segment, at, size = list(records(directory))[-1]
    content = bytearray(segment.read_bytes())
    content[at + size // 2 : at + size] = bytes(size - size // 2)
    segment.write_bytes(content)


def lose_the_last_file_of_each_queue(directory: Path) -> None:
    for files in queues(directory):
        max(files).unlink()


def clear_the_last_entry_of_each_queue(directory: Path) -> None:
    for files in queues(directory):
        # The last file may have been made just before the kill, and hold nothing.
        last, at = max((file, at) for file in files for at in entries(file))
        content = last.read_bytes()
        last.write_bytes(content[:at] + bytes(len(content) - at))


def queues(directory: Path) -> list[list[Path]]:
    """List the files of each queue; one made just before the kill may have none."""
    files = [list(queue.iterdir()) for queue in (directory / "consumequeue").glob("*/*")]
    return [each for each in files if each]


def add_an_empty_file_to_each_full_queue(directory: Path) -> int:
    count = 0
    for files in queues(directory):
        last = max(files)
        if len(entries(last)) * ENTRY_SIZE == SIZES.queue_file:
            name = f"{int(last.name) + SIZES.queue_file:020d}"
            (last.parent / name).write_bytes(bytes(SIZES.queue_file))
            count += 1
    return count


def entries(file: Path) -> list[int]:
    """List where the entries of a queue's file begin, in bytes."""
    content = file.read_bytes()
    return [at for at in range(0, len(content), ENTRY_SIZE) if any(content[at + 8 : at + 12])]


def lose_the_queues_and_the_oldest_segment(directory: Path) -> None:
    shutil.rmtree(directory / "consumequeue")
    (directory / "checkpoint").unlink()
    min((directory / "commitlog").iterdir()).unlink()


@pytest.mark.parametrize(
    "damage",
    few(
        [
            tear_the_last_record,
            lose_the_last_file_of_each_queue,
            clear_the_last_entry_of_each_queue,
            lose_the_queues_and_the_oldest_segment,
        ],
        2,
    ),
)
def test_both_recover_a_killed_store_alike(
    damage: Callable[[Path], None], killed: Path, stock: StockStore, tmp_path: Path
):
    for_stock, for_us = (shutil.copytree(killed, tmp_path / name) for name in ("stock", "ours"))
    damage(for_stock)
    damage(for_us)

    contents = stock.read(for_stock, sizes=SIZES)

    assert_same(our_store.read(for_us, SIZES, like=contents), contents)


def test_a_queue_file_without_an_entry_changes_nothing(stock: StockStore, tmp_path: Path):
    """A kill may leave such a file. Only the stock store then answers 0 for times in its queue."""
    for_stock = tmp_path / "stock"
    stock.write(for_stock, sizes=SIZES, seed=11, count=COUNT, stop="kill-after-dispatch")
    for_us = Path(shutil.copytree(for_stock, tmp_path / "ours"))
    assert add_an_empty_file_to_each_full_queue(for_us) > 0

    contents = stock.read(for_stock, sizes=SIZES)

    assert_same(our_store.read(for_us, SIZES, like=contents), contents)


@pytest.mark.parametrize("stop", few(["clean", "kill"], 1))
def test_both_begin_queues_alike_after_segments_expired(
    stop: str, stock: StockStore, tmp_path: Path
):
    for_us = tmp_path / "ours"
    stock.write(for_us, sizes=SIZES, seed=12, count=COUNT, expire_count=2, stop=stop)
    for_stock = Path(shutil.copytree(for_us, tmp_path / "stock"))

    contents = stock.read(for_stock, sizes=SIZES)

    assert contents.positions[0] == 2 * SIZES.segment
    assert_same(our_store.read(for_us, SIZES, like=contents), contents)
    assert any(queue.min_offset > 0 for queue in contents.queues.values())


def records(directory: Path) -> Iterator[tuple[Path, int, int]]:
    """List where the records of a log lie, as (segment, place inside it, size)."""
    for segment in sorted((directory / "commitlog").iterdir()):
        content, at = segment.read_bytes(), 0
        while at + 8 <= len(content):
            size, magic = struct.unpack_from(">iI", content, at)
            if size == 0 or magic == BLANK_MAGIC:
                break
            yield segment, at, size
            at += size
