"""Batch queues and light queues, which only stock serves: our store refuses them by name."""

import shutil
from pathlib import Path

import pytest
from regent_engine import StoreError

from tests.interop import our_store
from tests.interop.stock_store import Sizes, StockStore
from tests.long_form import few

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes(segment=16_384)
COUNT = 200
SCRIPT = {"script": "queues", "body_size_max": 900}


@pytest.mark.parametrize("stop", few(["clean", "kill"], 1))
def test_stock_goes_on_with_a_store_that_we_refused(stop: str, stock: StockStore, tmp_path: Path):
    directory = tmp_path / "store"
    stock.write(directory, sizes=SIZES, seed=31, count=COUNT, stop=stop, **SCRIPT)
    untouched = Path(shutil.copytree(directory, tmp_path / "untouched"))

    with pytest.raises(StoreError, match="batchconsumequeue holds batch queues") as refused:
        our_store.open_store(directory, SIZES)

    assert refused.value.code == "unserved_queues"
    contents = stock.read(directory, sizes=SIZES)
    assert contents == stock.read(untouched, sizes=SIZES)
    assert {topic for topic, _ in contents.queues} > {"Batches", "%LMQ%a", "%LMQ%b"}
