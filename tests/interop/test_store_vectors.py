"""The engine reads a committed store of stock's, without Java."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import queue_files
from tests.interop.store_vectors import SIZES, STORE, VECTOR, stored_contents


def left_cleanly(directory: Path) -> None:
    """Leave it as it is."""
    assert not (directory / "abort").exists()


def killed(directory: Path) -> None:
    (directory / "abort").write_text("4711")


def without_queues(directory: Path) -> None:
    shutil.rmtree(directory / "consumequeue")
    (directory / "checkpoint").unlink()


def test_the_store_is_small_and_rolls():
    files = [path for path in VECTOR.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 64 << 10
    assert len(list((STORE / "commitlog").iterdir())) > 1
    assert len(list((STORE / "index").iterdir())) > 1


@pytest.mark.parametrize("change", [left_cleanly, killed, without_queues])
def test_a_store_of_stock_opens_with_all_its_messages(
    change: Callable[[Path], None], tmp_path: Path
):
    directory = Path(shutil.copytree(STORE, tmp_path / "store"))
    change(directory)
    stock = stored_contents()

    ours = our_store.read(directory, SIZES, like=stock)

    assert_same(ours, stock)
    assert len(ours.messages) > len(stock.queues) > 0
    assert dict(queue_files(directory)) == dict(queue_files(STORE))


def test_the_index_of_a_store_of_stock_is_searched(tmp_path: Path):
    stock = stored_contents()
    store = our_store.open_store(Path(shutil.copytree(STORE, tmp_path / "store")), SIZES)

    found = our_store.look_ups(store, like=stock)

    store.close()
    assert found == stock.look_ups
    assert sum(map(bool, found.values())) > len(stock.messages)
