"""The engine reads committed stores of stock's, without Java."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.cli.app import run
from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import queue_files
from tests.interop.store_vectors import ALL, QUEUES, SIZES, StoreVector

LIGHT_QUEUE = ("%LMQ%a", 0)


def left_cleanly(directory: Path) -> None:
    """Leave it as it is."""
    assert not (directory / "abort").exists()


def killed(directory: Path) -> None:
    (directory / "abort").write_text("4711")


def without_queues(directory: Path) -> None:
    for queues in directory.glob("*consumequeue"):
        shutil.rmtree(queues)
    (directory / "checkpoint").unlink()


@pytest.fixture(params=ALL, ids=lambda vector: vector.name)
def vector(request: pytest.FixtureRequest) -> StoreVector:
    found: StoreVector = request.param
    return found


def test_the_store_is_small_and_rolls(vector: StoreVector):
    files = [path for path in vector.directory.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 64 << 10
    assert len(list((vector.store / "commitlog").iterdir())) > 1
    assert len(list((vector.store / "index").iterdir())) > 1


@pytest.mark.parametrize("change", [left_cleanly, killed, without_queues])
def test_a_store_of_stock_opens_with_all_its_messages(
    change: Callable[[Path], None], vector: StoreVector, tmp_path: Path
):
    directory = Path(shutil.copytree(vector.store, tmp_path / "store"))
    change(directory)
    stock = vector.contents()

    ours = our_store.read(directory, SIZES, like=stock)

    assert_same(ours, stock)
    assert len(ours.messages) > len(stock.queues) > 0
    assert dict(queue_files(directory)) == dict(queue_files(vector.store))


def test_light_queues_are_read_by_a_broker_that_makes_none(tmp_path: Path):
    store = our_store.open_store(
        Path(shutil.copytree(QUEUES.store, tmp_path / "store")), SIZES, multi_dispatch_enabled=False
    )
    stock = QUEUES.contents()

    ours = our_store.contents(store, like=stock)

    store.close()
    assert_same(ours, stock)
    assert ours.queues[LIGHT_QUEUE].max_offset > 1


def test_a_rebuild_by_command_keeps_batch_queues_and_builds_light_queues_again(tmp_path: Path):
    directory = Path(shutil.copytree(QUEUES.store, tmp_path / "store"))

    assert run(["store", "rebuild", str(directory), "--only", "queues"]) == 0

    assert dict(queue_files(directory)) == dict(queue_files(QUEUES.store))


def test_the_index_of_a_store_of_stock_is_searched(vector: StoreVector, tmp_path: Path):
    stock = vector.contents()
    store = our_store.open_store(Path(shutil.copytree(vector.store, tmp_path / "store")), SIZES)

    found = our_store.look_ups(store, like=stock)

    store.close()
    assert found == stock.look_ups
    assert sum(map(bool, found.values())) > len(stock.records) // 2
