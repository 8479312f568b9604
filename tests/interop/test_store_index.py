"""Our engine and the stock store write the same key index and find the same in it."""

import shutil
import time
from pathlib import Path

import pytest
from regent_engine import Store

from tests.interop import our_store
from tests.interop.stock_store import Sizes, StockStore

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes()
COUNT = 400


@pytest.fixture(scope="module")
def written(stock: StockStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a store as stock left it, which stock has not opened again."""
    directory = tmp_path_factory.mktemp("stock") / "store"
    stock.write(directory, sizes=SIZES, seed=21, count=COUNT)
    return directory


def index_all(store: Store) -> None:
    while store.advance_followers(int(time.time() * 1000), 0):
        pass


def index_files(directory: Path) -> list[bytes]:
    """List the files in the order of their creation; their names hold its time."""
    return [path.read_bytes() for path in sorted((directory / "index").iterdir())]


def test_we_find_what_stock_has_indexed(written: Path, stock: StockStore, tmp_path: Path):
    directory = Path(shutil.copytree(written, tmp_path / "ours"))
    contents = stock.read(Path(shutil.copytree(written, tmp_path / "stock")), sizes=SIZES)

    store = our_store.open_store(directory, SIZES)
    found = our_store.look_ups(store, like=contents)
    status = store.index_status()
    store.close()

    assert found == contents.look_ups
    assert status.damaged_count == 0
    assert status.file_count > 2
    assert sum(map(bool, found.values())) > COUNT
    assert index_files(directory) == index_files(written)


def test_we_build_the_index_of_a_log_byte_for_byte(written: Path, tmp_path: Path):
    directory = Path(shutil.copytree(written, tmp_path / "store"))
    shutil.rmtree(directory / "index")

    store = our_store.open_store(directory, SIZES)
    index_all(store)
    store.close()

    assert index_files(directory) == index_files(written)


def test_stock_finds_what_we_have_indexed(stock: StockStore, tmp_path: Path):
    store = our_store.open_store(tmp_path / "store", SIZES)
    given = our_store.fill(store, seed=22, count=COUNT)
    index_all(store)
    store.close()
    opened = Path(shutil.copytree(tmp_path / "store", tmp_path / "opened"))

    contents = stock.read(opened, sizes=SIZES)

    store = our_store.open_store(tmp_path / "store", SIZES)
    assert our_store.look_ups(store, like=contents) == contents.look_ups
    store.close()
    assert len(contents.look_ups) > len(given)


def test_each_goes_on_with_the_index_of_the_other(written: Path, stock: StockStore, tmp_path: Path):
    directory = Path(shutil.copytree(written, tmp_path / "store"))
    store = our_store.open_store(directory, SIZES)
    our_store.fill(store, seed=23, count=COUNT // 4)
    index_all(store)
    store.close()
    stock.write(directory, sizes=SIZES, seed=24, count=COUNT // 4)

    contents = stock.read(Path(shutil.copytree(directory, tmp_path / "opened")), sizes=SIZES)

    store = our_store.open_store(directory, SIZES)
    index_all(store)
    found = our_store.look_ups(store, like=contents)
    status = store.index_status()
    store.close()
    assert status.damaged_count == 0
    assert found == contents.look_ups
