"""Our engine and the stock store open each other's directories and find the same there.

Whatever can be read of a store is read by both and compared: records byte for byte, entries byte
for byte, every field of every message, ranges, and searches by time.
"""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interop import our_store
from tests.interop.our_store import assert_same
from tests.interop.stock_store import Contents, Event, Sizes, StockStore, host, queue_files
from tests.long_form import few

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

SIZES = Sizes()
COUNT = 500
STOPS = ("clean", "kill")
A_WHILE_MS = 3_600_000
"""After it, whatever is flushed by a timer is due."""
IPV6 = 6
BORN_HOST_IS_IPV6, STORE_HOST_IS_IPV6 = 0x10, 0x20


@dataclass(frozen=True, slots=True)
class WrittenByStock:
    """A directory as stock left it, where its appends went, and what stock reads there."""

    directory: Path
    appended: list[Event]
    contents: Contents

    def copy(self, to: Path) -> Path:
        return Path(shutil.copytree(self.directory, to / "store"))


@dataclass(frozen=True, slots=True)
class WrittenByUs:
    """A directory as we left it, what was given to it, and what we read there.

    `killed` is a copy from before it was closed, which is what a kill leaves; its checkpoint knows
    of most of it.
    """

    directory: Path
    killed: Path
    given: dict[int, dict[str, Any]]
    queues: dict[str, bytes]


@pytest.fixture(scope="module", params=STOPS)
def written_by_stock(
    request: pytest.FixtureRequest, stock: StockStore, tmp_path_factory: pytest.TempPathFactory
) -> WrittenByStock:
    directory = tmp_path_factory.mktemp("stock") / "store"
    appended = stock.write(directory, sizes=SIZES, seed=1, count=COUNT, stop=request.param)
    assert (directory / "abort").exists() == (request.param == "kill")
    opened = shutil.copytree(directory, directory.with_name("opened"))
    return WrittenByStock(directory, appended, stock.read(opened, sizes=SIZES))


@pytest.fixture(scope="module")
def written_by_us(tmp_path_factory: pytest.TempPathFactory) -> WrittenByUs:
    root = tmp_path_factory.mktemp("ours")
    store = our_store.open_store(root / "store", SIZES)
    given = our_store.fill(store, seed=2, count=COUNT)
    store.flush()
    store.tick(int(time.time() * 1000) + A_WHILE_MS)
    given |= our_store.fill(store, seed=20, count=COUNT // 5)
    killed = Path(shutil.copytree(root / "store", root / "killed"))
    assert any(checkpoint(killed))
    store.close()
    return WrittenByUs(root / "store", killed, given, dict(queue_files(root / "store")))


def test_we_read_what_stock_wrote(written_by_stock: WrittenByStock, tmp_path: Path):
    stock = written_by_stock.contents

    ours = our_store.read(written_by_stock.copy(tmp_path), SIZES, like=stock)

    assert_same(ours, stock)
    assert len(stock.records) == sum(one["count"] for one in written_by_stock.appended)
    assert len(stock.messages) > COUNT
    assert len(stock.offsets_by_time) > COUNT


def test_we_place_messages_where_stock_said_it_put_them(
    written_by_stock: WrittenByStock, tmp_path: Path
):
    store = our_store.open_store(written_by_stock.copy(tmp_path), SIZES)
    ids = {}
    for topic, queue_id, first, end in store.queues():
        for offset in range(first, end):
            record = our_store.read_message(store, topic, queue_id, offset)
            ids[our_store.fields_of(record)["message_id"]] = (topic, queue_id, offset)
    store.close()

    placed = {
        one_id: (one["topic"], one["queue_id"], one["queue_offset"] + at)
        for one in written_by_stock.appended
        for at, one_id in enumerate(one["message_ids"])
    }
    assert ids.items() <= placed.items()
    assert len(ids) > COUNT


def test_both_build_the_queues_of_a_log_alike(written_by_stock: WrittenByStock, tmp_path: Path):
    directory = written_by_stock.copy(tmp_path)
    by_stock = dict(queue_files(written_by_stock.directory.with_name("opened")))
    shutil.rmtree(directory / "consumequeue")
    (directory / "checkpoint").unlink()

    ours = our_store.read(directory, SIZES, like=written_by_stock.contents)

    assert_same(ours, written_by_stock.contents)
    assert dict(queue_files(directory)) == by_stock


def test_a_checkpoint_of_ours_keeps_what_stock_knows_of_its_index(
    written_by_stock: WrittenByStock, tmp_path: Path
):
    directory = written_by_stock.copy(tmp_path)
    stock = written_by_stock.contents
    before = checkpoint(directory)

    our_store.read(directory, SIZES, like=stock)

    newest = max(message["store_timestamp_ms"] for message in stock.messages.values())
    end = stock.positions[1]
    assert checkpoint(directory) == [newest, newest, before[2], end, end, 0]


@pytest.mark.parametrize("written_by_stock", few(STOPS, 1), indirect=True)
def test_we_append_to_a_store_of_stock(
    written_by_stock: WrittenByStock, stock: StockStore, tmp_path: Path
):
    directory = written_by_stock.copy(tmp_path)
    store = our_store.open_store(directory, SIZES)
    given = our_store.fill(store, seed=3, count=COUNT // 5)
    store.close()

    after = stock.read(directory, sizes=SIZES)

    before = written_by_stock.contents
    assert before.records.items() <= after.records.items()
    assert len(after.records) > len(before.records) + len(given)
    assert_same(our_store.read(directory, SIZES, like=after), after)


@pytest.mark.parametrize("stop", STOPS)
def test_stock_reads_what_we_wrote(
    written_by_us: WrittenByUs, stock: StockStore, tmp_path: Path, stop: str
):
    left = written_by_us.directory if stop == "clean" else written_by_us.killed
    directory = Path(shutil.copytree(left, tmp_path / "store"))

    contents = stock.read(directory, sizes=SIZES)

    assert_same(our_store.read(directory, SIZES, like=contents), contents)
    assert dict(queue_files(directory)) == written_by_us.queues
    by_position = {one["log_position"]: one for one in contents.messages.values()}
    given = {at: one for at, one in written_by_us.given.items() if at in by_position}
    assert len(given) > COUNT * 4 // 5
    for position, message in given.items():
        stored = by_position[position]
        assert {name: stored[name] for name in message} == as_stored(message)


@pytest.mark.parametrize("stop", few(STOPS, 1))
def test_stock_builds_the_queues_we_wrote_byte_for_byte(
    written_by_us: WrittenByUs, stock: StockStore, tmp_path: Path, stop: str
):
    left = written_by_us.directory if stop == "clean" else written_by_us.killed
    directory = Path(shutil.copytree(left, tmp_path / "store"))
    shutil.rmtree(directory / "consumequeue")
    (directory / "checkpoint").unlink()

    stock.read(directory, sizes=SIZES)

    assert dict(queue_files(directory)) == written_by_us.queues


@pytest.mark.parametrize("stop", few(STOPS, 1))
def test_stock_goes_on_appending_to_our_store(
    written_by_us: WrittenByUs, stock: StockStore, tmp_path: Path, stop: str
):
    directory = Path(shutil.copytree(written_by_us.directory, tmp_path / "store"))
    appended = stock.write(directory, sizes=SIZES, seed=4, count=COUNT // 5, stop=stop)
    opened = Path(shutil.copytree(directory, tmp_path / "opened"))

    contents = stock.read(opened, sizes=SIZES)

    ours = our_store.read(directory, SIZES, like=contents)
    assert_same(ours, contents)
    assert {one["log_position"] for one in appended} <= set(ours.records)


def as_stored(message: dict[str, Any]) -> dict[str, Any]:
    """Say what must be read of a given message; its flag says which addresses are IPv6."""
    born_host, store_host = host(*message["born_host"]), host(*message["store_host"])
    born_flag = BORN_HOST_IS_IPV6 if born_host[0].version == IPV6 else 0
    store_flag = STORE_HOST_IS_IPV6 if store_host[0].version == IPV6 else 0
    return {
        **message,
        "born_host": born_host,
        "store_host": store_host,
        "sys_flag": message["sys_flag"] | born_flag | store_flag,
    }


def checkpoint(directory: Path) -> list[int]:
    content = (directory / "checkpoint").read_bytes()
    assert not any(content[48:])
    return [int.from_bytes(content[at : at + 8], "big", signed=True) for at in range(0, 48, 8)]
