"""The key index through the Python face; what it holds is the commit log crate's to test."""

import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from regent_engine import Store, StoreError, encode_properties

NOW_MS = 1_758_000_000_000


def store_of(root: Path, **settings: int) -> Store:
    counts = {"index_slot_count": 100, "index_entry_count": 1000} | settings
    return Store(
        str(root),
        segment_size_bytes=1 << 16,
        queue_file_size_bytes=2000,
        **counts,  # type: ignore[arg-type]
    )


def append(store: Store, body: bytes, **properties: str) -> int:
    return store.append("Orders", 0, body, encode_properties(properties)).log_position


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond 1 MiB, which looks like a full disk to the engine."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def positions(found: list[tuple[int, bytes]]) -> list[int]:
    return [position for position, _ in found]


def test_a_message_is_found_by_each_kind_of_key(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    position = append(store, b"x", UNIQ_KEY="U", KEYS="k1 k2", TAGS="red")

    left = store.advance_followers(NOW_MS, 3600)

    assert left == 0
    assert positions(store.find_by_key("Orders", "k2")) == [position]
    assert positions(store.find_by_key("Orders", "U", kind="unique_key")) == [position]
    assert positions(store.find_by_key("Orders", "red", kind="tags")) == [position]
    assert positions(store.find_by_key("Orders", "red")) == []
    assert positions(store.find_by_key("Orders", "k1", end_ms=NOW_MS)) == []
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["20250916062000000"]
    status = store.index_status()
    assert (status.position, status.file_count) == (store.max_position, 1)
    assert (status.end_position, status.damaged_count) == (position, 0)
    store.close()


def test_records_are_found_up_to_a_size_and_the_newest_at_any(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    appended = [append(store, bytes(1000), KEYS="k") for _ in range(3)]
    store.advance_followers(NOW_MS, 0)
    newest_first = [(at, store.record(at)) for at in reversed(appended)]
    size = len(newest_first[0][1] or b"")

    assert store.find_by_key("Orders", "k") == newest_first
    assert store.find_by_key("Orders", "k", size_max=2 * size) == newest_first[:2]
    assert store.find_by_key("Orders", "k", size_max=2 * size - 1) == newest_first[:1]
    assert store.find_by_key("Orders", "k", size_max=0) == newest_first[:1]
    store.close()


def test_a_kind_of_key_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    store = store_of(tmp_path)

    with pytest.raises(ValueError, match="kind is key, unique_key or tags"):
        store.find_by_key("Orders", "k", kind="other")  # type: ignore[arg-type]

    store.close()


def test_a_search_that_takes_too_long_is_an_error_and_not_an_answer(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    position = append(store, b"old", KEYS="Aa")
    for _ in range(10):
        # "BB" has the same hash, and a turn looks at one record.
        append(store, b"newer", KEYS="BB")
    store.advance_followers(NOW_MS, 0)

    with pytest.raises(StoreError, match="narrow its range of times") as refused:
        store.find_by_key("Orders", "Aa", timeout_ms=0)

    assert refused.value.code == "search_too_long"
    assert positions(store.find_by_key("Orders", "Aa")) == [position]
    store.close()


def test_a_store_can_be_closed_while_a_search_goes_on(tmp_path: Path) -> None:
    store = store_of(tmp_path, index_slot_count=1, index_entry_count=100_000)
    for number in range(50_000):
        append(store, b"", KEYS=f"{number}")
    while store.advance_followers(NOW_MS, 0) > 0:
        pass

    def search() -> str:
        while True:
            try:
                store.find_by_key("Orders", "absent")
            except StoreError as error:
                return error.code

    with ThreadPoolExecutor(1) as searchers:
        code = searchers.submit(search)
        store.close()

        assert code.result(timeout=30) == "closed"


def test_a_full_disk_holds_up_the_index_and_nothing_else(tmp_path: Path) -> None:
    store = store_of(tmp_path, index_slot_count=1 << 20)
    first = append(store, b"before", KEYS="k")

    with full_disk():
        with pytest.raises(StoreError) as refused:
            store.advance_followers(NOW_MS, 0)
        second = append(store, b"meanwhile", KEYS="k")

    assert refused.value.code == "disk_full"
    assert list((tmp_path / "index").iterdir()) == []
    assert store.index_status().position == 0
    while store.advance_followers(NOW_MS, 0) > 0:
        pass
    assert positions(store.find_by_key("Orders", "k")) == [second, first]
    store.close()
