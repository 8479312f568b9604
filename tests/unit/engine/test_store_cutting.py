"""Epochs, truncation and damage through the Python face; the commit log crate tests them itself."""

import threading
from pathlib import Path

import pytest
from regent_engine import HotPath, Store, StoreError, decode_records

from tests.unit.engine.builders import BROKER_HOST, SEGMENT_BYTES, hot_path, open_store


def append_some(store: Store, count: int) -> list[int]:
    """Append messages and return their log positions."""
    return [store.append("Orders", 0, b"%d" % n, b"").log_position for n in range(count)]


def damage(path: Path, position: int) -> None:
    """Spoil the magic of the record at a position."""
    with (path / "commitlog" / f"{0:020}").open("r+b") as file:
        file.seek(position + 4)
        file.write(b"\xff")


def bodies(store: Store) -> list[bytes]:
    return [record.body for record in decode_records(store.read("Orders", 0, 0).body)]


def test_epochs_begin_at_the_end_of_the_log(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.begin_epoch(1)
    append_some(store, 2)
    end = store.max_position

    store.begin_epoch(5)

    assert store.epochs() == [(1, 0), (5, end)]
    assert (tmp_path / "epochFileCheckpoint").read_text().endswith(f"\n1-0\n5-{end}\n")
    with pytest.raises(StoreError, match="epoch 4") as error:
        store.begin_epoch(4)
    assert error.value.code == "epoch_refused"
    store.close()


def test_a_truncated_store_goes_on_at_the_cut(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    positions = append_some(store, 5)
    hot = hot_path(store)

    store.truncate_to(positions[2])

    assert (store.max_position, store.offsets("Orders", 0)) == (positions[2], (0, 2))
    assert store.append("Orders", 0, b"new", b"").queue_offset == 2
    assert bodies(store) == [b"0", b"1", b"new"]
    assert isinstance(hot, HotPath)
    store.close()


def test_a_cut_inside_a_record_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    append_some(store, 2)

    with pytest.raises(StoreError, match="inside a record") as error:
        store.truncate_to(1)

    assert error.value.code == "no_boundary"
    assert bodies(store) == [b"0", b"1"]
    store.close()


def test_threads_that_use_a_store_wait_for_its_truncation(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    positions = append_some(store, 100)
    stopped = threading.Event()

    def use() -> None:
        while not stopped.is_set():
            store.read("Orders", 0, 0)
            store.append("Others", 0, b"x", b"")

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for kept in (90, 50, 10):
        store.truncate_to(positions[kept])
    stopped.set()
    for thread in threads:
        thread.join()

    assert bodies(store) == [b"%d" % n for n in range(10)]
    store.close()


def test_a_damaged_store_is_read_but_not_written(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.damage is None
    positions = append_some(store, 5)
    store.close()
    damage(tmp_path, positions[2])

    opened = open_store(tmp_path)

    found = opened.damage
    assert found is not None
    assert (found.position, found.next_valid_position) == (positions[2], positions[3])
    assert found.kind == "unknown magic"
    assert str(tmp_path / "commitlog") in found.reason
    with pytest.raises(StoreError) as error:
        opened.append("Orders", 0, b"x", b"")
    assert (error.value.code, str(error.value)) == ("read_only", found.reason)
    assert bodies(opened) == [b"0", b"1"]
    with pytest.raises(StoreError, match="not its record"):
        opened.read("Orders", 0, 2)
    assert opened.read("Orders", 0, 3).count == 2
    opened.close()


def test_an_operator_has_a_damaged_store_cut(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    positions = append_some(store, 5)
    store.close()
    damage(tmp_path, positions[2])

    opened = Store(
        str(tmp_path),
        segment_size_bytes=SEGMENT_BYTES,
        queue_file_size_bytes=20_000,
        store_host=BROKER_HOST,
        cut_damage_at=positions[2],
    )

    assert opened.damage is None
    assert bodies(opened) == [b"0", b"1"]
    assert opened.append("Orders", 0, b"new", b"").queue_offset == 2
    opened.close()
