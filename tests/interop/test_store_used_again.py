"""Stock opens a store of ours whose last segment was one before (FORMAT.md 5.1)."""

import shutil
import time
from pathlib import Path

import pytest

from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import Sizes, StockStore
from tests.long_form import few

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes()
COUNT = 100
CLEARED_AHEAD = 4096
"""So little that most of what a segment was before is still there."""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Fill a store whose retention has begun; give what a kill and what a clean stop leave."""
    root = tmp_path_factory.mktemp("again")
    store = our_store.open_store(
        root / "clean", SIZES, flush_mode="sync", populate_ahead_bytes=CLEARED_AHEAD
    )
    log = root / "clean" / "commitlog"
    for seed in range(200):
        our_store.fill(store, seed=seed, count=COUNT)
        store.flush()
        store.expire(
            int(time.time() * 1000), log_bytes_max=2 * SIZES.segment, segment_count_max=100
        )
        base, at = divmod(store.max_position, SIZES.segment)
        newest = log / f"{base * SIZES.segment:020}"
        if any(newest.read_bytes()[at + 3 * CLEARED_AHEAD :]):
            break
    else:
        pytest.fail("no segment was used again")
    killed = Path(shutil.copytree(root / "clean", root / "kill"))
    store.close()
    assert not any(newest.read_bytes()[at:])
    return {"clean": root / "clean", "kill": killed}


@pytest.mark.parametrize("stop", few(["clean", "kill"], 1))
def test_stock_finds_our_messages_and_nothing_that_was_there_before(
    left: dict[str, Path], stock: StockStore, tmp_path: Path, stop: str
):
    ours = our_store.open_store(Path(shutil.copytree(left["clean"], tmp_path / "ours")), SIZES)
    positions = (ours.min_position, ours.max_position)
    ours.close()
    directory = Path(shutil.copytree(left[stop], tmp_path / "store"))

    contents = stock.read(directory, sizes=SIZES)

    assert contents.positions == positions
    assert_same(our_store.read(directory, SIZES, like=contents), contents)


@pytest.mark.parametrize("stop", few(["clean", "kill"], 1))
def test_stock_goes_on_where_we_stopped_and_we_where_stock_did(
    left: dict[str, Path], stock: StockStore, tmp_path: Path, stop: str
):
    directory = Path(shutil.copytree(left[stop], tmp_path / "store"))

    appended = stock.write(directory, sizes=SIZES, seed=4, count=COUNT, stop="clean")

    contents = stock.read(Path(shutil.copytree(directory, tmp_path / "opened")), sizes=SIZES)
    ours = our_store.read(directory, SIZES, like=contents)
    assert_same(ours, contents)
    assert {one["log_position"] for one in appended} <= set(ours.records)
