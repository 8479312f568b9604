"""The engine reads committed stores of stock's, without Java."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from regent_engine import StoreError

from backend.cli.app import run
from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import queue_files
from tests.interop.store_vectors import ALL, PLAIN, QUEUES, SIZES, StoreVector

INNER_BATCH = 0x80 | 0x40


def left_cleanly(directory: Path) -> None:
    """Leave it as it is."""
    assert not (directory / "abort").exists()


def killed(directory: Path) -> None:
    (directory / "abort").write_text("4711")


def without_batch_queues(directory: Path) -> None:
    shutil.rmtree(directory / "batchconsumequeue")


def without_queues(directory: Path) -> None:
    for queues in directory.glob("*consumequeue"):
        shutil.rmtree(queues)
    (directory / "checkpoint").unlink()


def files_of(directory: Path) -> dict[str, bytes]:
    paths = (path for path in directory.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


@pytest.mark.parametrize("vector", ALL, ids=lambda vector: vector.name)
def test_the_store_is_small_and_rolls(vector: StoreVector):
    files = [path for path in vector.directory.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 64 << 10
    assert len(list((vector.store / "commitlog").iterdir())) > 1
    assert len(list((vector.store / "index").iterdir())) > 1


@pytest.mark.parametrize("change", [left_cleanly, killed, without_queues])
def test_a_store_of_stock_opens_with_all_its_messages(
    change: Callable[[Path], None], tmp_path: Path
):
    directory = Path(shutil.copytree(PLAIN.store, tmp_path / "store"))
    change(directory)
    stock = PLAIN.contents()

    ours = our_store.read(directory, SIZES, like=stock)

    assert_same(ours, stock)
    assert len(ours.messages) > len(stock.queues) > 0
    assert dict(queue_files(directory)) == dict(queue_files(PLAIN.store))


def first_inner_batch() -> str:
    messages = QUEUES.contents().messages.values()
    batches = [one for one in messages if one["sys_flag"] & INNER_BATCH == INNER_BATCH]
    first = min(batches, key=lambda one: one["log_position"])
    return f"of topic {first['topic']} at log position {first['log_position']} is an inner batch"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (left_cleanly, lambda: "batchconsumequeue holds batch queues"),
        (killed, lambda: "batchconsumequeue holds batch queues"),
        (without_batch_queues, lambda: "holds light queues"),
        (without_queues, first_inner_batch),
    ],
)
def test_a_store_with_queues_that_only_stock_serves_is_refused_by_name(
    change: Callable[[Path], None],
    named: Callable[[], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    directory = Path(shutil.copytree(QUEUES.store, tmp_path / "store"))
    change(directory)
    before = files_of(directory)

    with pytest.raises(StoreError, match=named()):
        our_store.open_store(directory, SIZES)
    commands = (["verify"], ["stats"], ["rebuild", "--only", "queues"])
    codes = [run(["store", command, str(directory), *rest]) for command, *rest in commands]

    told = " ".join(capsys.readouterr().err.split())
    assert codes == [1, 1, 1]
    assert told.count("use the tools of the RocketMQ broker that wrote the store") == 3
    if change is not without_queues:
        assert files_of(directory) == before


def test_the_index_of_a_store_of_stock_is_searched(tmp_path: Path):
    stock = PLAIN.contents()
    store = our_store.open_store(Path(shutil.copytree(PLAIN.store, tmp_path / "store")), SIZES)

    found = our_store.look_ups(store, like=stock)

    store.close()
    assert found == stock.look_ups
    assert sum(map(bool, found.values())) > len(stock.records) // 2
