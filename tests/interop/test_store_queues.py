"""Batch queues and light queues: each store reads, repairs and continues those of the other."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from regent_engine import Store, encode_properties

from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import Contents, Sizes, StockStore, queue_files
from tests.long_form import few

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes(segment=16_384)
COUNT = 200
SCRIPT = {"script": "queues", "body_size_max": 900}
BATCH_TOPIC = "Batches"


@pytest.fixture(scope="module", params=few(["clean", "kill"], 1))
def written(
    request: pytest.FixtureRequest, stock: StockStore, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give a store as stock left it, which stock has not opened again."""
    directory = tmp_path_factory.mktemp("stock") / "store"
    stock.write(directory, sizes=SIZES, seed=31, count=COUNT, stop=request.param, **SCRIPT)
    return directory


@pytest.fixture(scope="module")
def opened(written: Path) -> Path:
    """Give the directory in which stock opens that store."""
    return Path(shutil.copytree(written, written.with_name("opened")))


@pytest.fixture(scope="module")
def contents(opened: Path, stock: StockStore) -> Contents:
    """Give what stock reads in it."""
    return stock.read(opened, sizes=SIZES)


def remove_queues(directory: Path) -> None:
    for name in ("consumequeue", "batchconsumequeue"):
        shutil.rmtree(directory / name)
    (directory / "checkpoint").unlink(missing_ok=True)


def lose_the_last_file_of_each_queue(directory: Path) -> None:
    for queue in directory.glob("*consumequeue/*/*"):
        max(queue.iterdir()).unlink()


def lose_the_first_segment_and_the_queues(directory: Path) -> None:
    remove_queues(directory)
    min((directory / "commitlog").iterdir()).unlink()


def append_inner_batches(store: Store, count: int) -> None:
    for number in range(count):
        bodies = [b"%d-%d" % (number, at) for at in range(1 + number % 5)]
        packed = b"".join(
            (22 + len(body)).to_bytes(4, "big")
            + bytes(12)
            + len(body).to_bytes(4, "big")
            + body
            + bytes(2)
            for body in bodies
        )
        properties = encode_properties({"UNIQ_KEY": f"U{number}", "TAGS": "TagA"})
        store.append_inner_batch(BATCH_TOPIC, number % 3, packed, properties)
        store.append(BATCH_TOPIC, number % 4, b"plain", properties)


def test_we_read_what_stock_wrote(written: Path, contents: Contents, tmp_path: Path):
    ours = our_store.read(Path(shutil.copytree(written, tmp_path / "store")), SIZES, like=contents)

    assert_same(ours, contents)
    assert sum(queue.max_offset for queue in contents.queues.values()) > COUNT * 2
    assert {topic for topic, _ in contents.queues} > {BATCH_TOPIC, "%LMQ%a", "%LMQ%b"}


@pytest.mark.parametrize("damage", [remove_queues, lose_the_last_file_of_each_queue])
def test_both_build_the_queues_of_a_log_alike(
    damage: Callable[[Path], None], written: Path, opened: Path, contents: Contents, tmp_path: Path
):
    directory = Path(shutil.copytree(written, tmp_path / "store"))
    damage(directory)

    ours = our_store.read(directory, SIZES, like=contents)

    assert_same(ours, contents)
    assert dict(queue_files(directory)) == dict(queue_files(opened))


def test_both_begin_queues_alike_after_segments_expired(stock: StockStore, tmp_path: Path):
    for_us = tmp_path / "ours"
    stock.write(for_us, sizes=SIZES, seed=32, count=COUNT, expire_count=2, **SCRIPT)
    for_stock = Path(shutil.copytree(for_us, tmp_path / "stock"))
    rebuilt = Path(shutil.copytree(for_us, tmp_path / "rebuilt"))

    after = stock.read(for_stock, sizes=SIZES)

    assert after.positions[0] == 2 * SIZES.segment
    assert any(queue.min_offset > 0 for queue in after.queues.values())
    assert_same(our_store.read(for_us, SIZES, like=after), after)
    assert dict(queue_files(for_us)) == dict(queue_files(for_stock))
    remove_queues(rebuilt)
    ours = our_store.read(rebuilt, SIZES, like=after)
    # Reads end with a file, and the files of a batch queue now begin elsewhere.
    assert_same(replace(ours, reads=after.reads), after)


def test_both_build_the_queues_of_a_log_that_lost_its_beginning(
    written: Path, stock: StockStore, tmp_path: Path
):
    for_stock, for_us = (
        Path(shutil.copytree(written, tmp_path / name)) for name in ("stock", "ours")
    )
    for directory in (for_stock, for_us):
        lose_the_first_segment_and_the_queues(directory)

    after = stock.read(for_stock, sizes=SIZES)

    assert_same(our_store.read(for_us, SIZES, like=after), after)


def test_stock_reads_the_inner_batches_that_we_append(
    written: Path, contents: Contents, stock: StockStore, tmp_path: Path
):
    directory = Path(shutil.copytree(written, tmp_path / "store"))
    store = our_store.open_store(directory, SIZES)
    append_inner_batches(store, 40)
    store.close()
    files = dict(queue_files(directory))
    rebuilt = Path(shutil.copytree(directory, tmp_path / "rebuilt"))
    remove_queues(rebuilt)

    after = stock.read(directory, sizes=SIZES)

    assert contents.records.items() <= after.records.items()
    assert len(after.records) == len(contents.records) + 80
    assert_same(our_store.read(directory, SIZES, like=after), after)
    assert dict(queue_files(directory)) == files
    stock.read(rebuilt, sizes=SIZES)
    assert dict(queue_files(rebuilt)) == files


def test_both_read_what_a_truncation_of_ours_left(written: Path, stock: StockStore, tmp_path: Path):
    directory = Path(shutil.copytree(written, tmp_path / "store"))
    store = our_store.open_store(directory, SIZES)
    cut = sorted(position for position in positions(store))[COUNT // 2]
    store.truncate_to(cut)
    store.close()
    files = dict(queue_files(directory))

    after = stock.read(directory, sizes=SIZES)

    assert after.positions[1] == cut
    assert_same(our_store.read(directory, SIZES, like=after), after)
    assert dict(queue_files(directory)) == files


def positions(store: Store) -> set[int]:
    """List the log positions of all records that have a queue entry."""
    return {
        position
        for topic, queue_id, first, end in store.queues()
        for position, _, _ in store.entries(topic, queue_id, first, end - first)
    }
