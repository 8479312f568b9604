"""The CRC property of our records holds for the stock store, and that of its records for ours.

Both treat a record without it, or with a wrong one, as damaged (storage-and-ha.md 2.7).
"""

import shutil
import zlib
from pathlib import Path

import pytest

from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import Sizes, StockStore
from tests.long_form import few

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes(has_crc=True)
COUNT = 300


def crc_property_of(record: bytes) -> bytes:
    digits = f"{zlib.crc32(record[:-20]) & 0x7FFFFFFF:010}"
    return b"__CRC32#\x01" + digits[::-1].encode() + b"\x02"


@pytest.mark.parametrize("stop", few(["clean", "kill"], 1))
def test_stock_verifies_the_crc_property_of_our_records(
    stock: StockStore, tmp_path: Path, stop: str
):
    store = our_store.open_store(tmp_path / "store", SIZES)
    our_store.fill(store, seed=5, count=COUNT)
    end = store.max_position
    directory = tmp_path / "store"
    if stop == "kill":
        directory = Path(shutil.copytree(directory, tmp_path / "killed"))
        # Without it stock validates all of the log.
        (directory / "checkpoint").unlink()
    store.close()

    contents = stock.read(directory, sizes=SIZES)

    assert contents.positions == (0, end)
    assert len(contents.records) > COUNT
    assert_same(our_store.read(directory, SIZES, like=contents), contents)


@pytest.mark.parametrize("stop", few(["clean", "kill"], 1))
def test_we_verify_the_crc_property_of_the_records_of_stock(
    stock: StockStore, tmp_path: Path, stop: str
):
    directory = tmp_path / "store"
    stock.write(directory, sizes=SIZES, seed=6, count=COUNT, stop=stop)
    contents = stock.read(Path(shutil.copytree(directory, tmp_path / "opened")), sizes=SIZES)

    ours = our_store.read(directory, SIZES, like=contents)

    assert_same(ours, contents)
    assert len(ours.records) > COUNT
    for record in ours.records.values():
        assert record[-20:] == crc_property_of(record)
