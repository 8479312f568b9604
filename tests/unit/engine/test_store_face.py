"""The store through its Python face; what it stores is the commit log crate's to test."""

import fcntl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from regent_engine import (
    ProtocolError,
    Store,
    StoreError,
    decode_records,
    encode_properties,
    offset_message_id,
    parse_offset_message_id,
    parse_properties,
    tag_hash,
)

from tests.unit.engine.builders import BROKER_HOST, open_store

# The example of remoting.md 4.1.
EXAMPLE_RECORD = bytes.fromhex(
    "00000065daa320a758932aac000000020000000000000000000000290000"
    "00000001e240000000000000019950f72c000a0000050000c350000001"
    "9950f72c050a00000100002a9f000000000000000000000000000000"
    "026869015400075441475301"
    "4102"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path)
    yield store
    store.close()


def test_an_appended_message_is_read_back(store: Store) -> None:
    properties = encode_properties({"TAGS": "TagA", "KEYS": "k"})

    appended = store.append(
        "Orders", 3, b"body", properties, flag=5, born_timestamp_ms=9,
        born_host=("10.1.2.3", 4), reconsume_times=2,
    )  # fmt: skip

    result = store.read("Orders", 3, 0)
    (record,) = decode_records(result.body)
    assert (result.status, result.count) == ("FOUND", 1)
    assert (result.next_offset, result.min_offset, result.max_offset) == (1, 0, 1)
    assert (record.body, record.flag, record.reconsume_times) == (b"body", 5, 2)
    assert record.properties == {"TAGS": "TagA", "KEYS": "k"}
    assert (record.born_host, record.store_host) == (("10.1.2.3", 4), BROKER_HOST)
    assert (appended.queue_offset, appended.size) == (0, record.size)
    assert appended.store_timestamp_ms == record.store_timestamp_ms
    assert parse_offset_message_id(appended.message_id) == (*BROKER_HOST, record.log_position)
    assert store.record(appended.log_position) == result.body
    assert store.entries("Orders", 3, 0, 9) == [(0, record.size, tag_hash("TagA"))]


def test_counters_give_messages_and_bytes_by_topic(store: Store) -> None:
    for body in (b"a", b"b"):
        store.append("Orders", 0, body, b"")
    end_of_orders = store.max_position
    store.append("Bills", 0, b"c", b"")

    counters = store.counters()

    assert (counters.messages, counters.bytes) == (3, store.max_position)
    assert counters.topics == {
        "Orders": (2, end_of_orders),
        "Bills": (1, store.max_position - end_of_orders),
    }


def test_reads_filter_by_tag(store: Store) -> None:
    for tag in ["a", "b", "a"]:
        store.append("Orders", 0, tag.encode(), encode_properties({"TAGS": tag}))

    found = store.read("Orders", 0, 0, tag_hashes=[tag_hash("a")])
    nothing = store.read("Orders", 0, 0, tag_hashes=[tag_hash("z")])

    assert [record.body for record in decode_records(found.body)] == [b"a", b"a"]
    assert (nothing.status, nothing.next_offset, nothing.body) == ("NO_MATCHED_MESSAGE", 3, b"")


def test_statuses_have_stock_names(store: Store) -> None:
    store.append("Orders", 0, b"x", b"")

    statuses = [store.read(topic, 0, offset).status for topic, offset in [
        ("Orders", 0), ("Orders", 1), ("Orders", 2), ("Nothing", 0),
    ]]  # fmt: skip

    assert statuses == [
        "FOUND", "OFFSET_OVERFLOW_ONE", "OFFSET_OVERFLOW_BADLY", "NO_MATCHED_LOGIC_QUEUE",
    ]  # fmt: skip


def test_a_store_opened_again_holds_its_messages(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.append("Orders", 0, b"x", b"")
    store.close()
    store.close()

    again = open_store(tmp_path)

    assert again.queues() == [("Orders", 0, 0, 1)]
    assert again.offsets("Orders", 0) == (0, 1)
    assert again.offsets("Orders", 1) is None
    again.close()


def test_a_store_that_can_not_be_closed_cleanly_lets_its_directory_go(tmp_path: Path) -> None:
    """A container starts the broker again in the same process."""
    store = open_store(tmp_path)
    store.append("Orders", 0, b"x", b"")
    mark = tmp_path / "abort"
    mark.unlink()
    mark.mkdir()

    with pytest.raises(StoreError):
        store.close()
    mark.rmdir()
    mark.touch()
    again = open_store(tmp_path)

    assert again.queues() == [("Orders", 0, 0, 1)]
    store.close()
    again.close()


def test_time_finds_offsets(store: Store) -> None:
    appended = [store.append("Orders", 0, b"x", b"") for _ in range(3)]

    assert store.offset_by_time("Orders", 0, appended[0].store_timestamp_ms - 1) == 0
    assert store.store_timestamp("Orders", 0, 2) == appended[2].store_timestamp_ms
    assert store.store_timestamp("Orders", 0, 3) == -1
    assert store.earliest_store_timestamp("Orders", 0) == appended[0].store_timestamp_ms
    assert store.earliest_store_timestamp("Nothing", 0) == -1
    with pytest.raises(ValueError, match="LOWER"):
        store.offset_by_time("Orders", 0, 0, "MIDDLE")


def test_flushing_moves_the_flushed_position(store: Store) -> None:
    store.append("Orders", 0, b"x", b"")

    assert store.flush() == store.flushed_position == store.max_position > 0
    assert store.min_position == 0
    store.tick(1)


def test_deleted_topics_have_no_queues(store: Store) -> None:
    store.append("Orders", 0, b"x", b"")

    store.delete_topic("Orders")

    assert store.queues() == []


def test_a_second_store_in_one_directory_is_locked_out(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as error:
        open_store(tmp_path)

    assert error.value.code == "locked"
    assert store.append("Orders", 0, b"x", b"").queue_offset == 0


def test_the_lock_is_a_record_lock_on_the_first_byte_as_that_of_stock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    store = Store(str(tmp_path))

    with path.open("r+b") as file:
        with pytest.raises(BlockingIOError):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 0, 1)
    store.close()
    del store

    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        with pytest.raises(StoreError, match="in use by another process"):
            Store(str(tmp_path))


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.close()

    with pytest.raises(StoreError) as error:
        store.append("Orders", 0, b"x", b"")

    assert error.value.code == "closed"


@pytest.mark.parametrize(
    ("topic", "queue_id", "body", "properties", "code"),
    [
        ("", 0, b"", b"", "illegal_message"),
        ("..", 0, b"", b"", "illegal_message"),
        ("a/b", 0, b"", b"", "illegal_message"),
        ("a\x00", 0, b"", b"", "illegal_message"),
        ("t" * 256, 0, b"", b"", "illegal_message"),
        ("t", -1, b"", b"", "illegal_message"),
        ("t", 2**31 - 1, b"", b"", "illegal_message"),
        ("t", 0, b"x" * 100_001, b"", "illegal_message"),
        ("t", 0, b"", b"x" * 32_768, "properties_too_large"),
    ],
)
def test_illegal_messages_are_refused_with_nothing_written(
    store: Store, topic: str, queue_id: int, body: bytes, properties: bytes, code: str
) -> None:
    with pytest.raises(StoreError) as error:
        store.append(topic, queue_id, body, properties)

    assert error.value.code == code
    assert (store.max_position, store.queues()) == (0, [])


def test_wrong_types_are_refused_and_do_no_harm(store: Store) -> None:
    with pytest.raises(TypeError):
        store.append("Orders", "0", b"", b"")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        store.append("Orders", 2**40, b"", b"")
    with pytest.raises(OverflowError):
        store.read("Orders", 0, 0, count_max=-1)
    with pytest.raises(ValueError, match="numeric"):
        store.append("Orders", 0, b"", b"", born_host=("not an address", 1))

    assert store.append("Orders", 0, b"x", b"").queue_offset == 0


@pytest.mark.parametrize("count", [2**31, 2**62])
def test_huge_limits_allocate_nothing_of_that_size(store: Store, count: int) -> None:
    store.append("Orders", 0, b"x", b"")

    assert store.read("Orders", 0, 0, count_max=count, bytes_max=count).count == 1
    assert len(store.entries("Orders", 0, 0, count)) == 1
    assert store.read("Orders", 0, -5).status == "OFFSET_TOO_SMALL"
    assert store.read("Orders", 0, 2**62).status == "OFFSET_OVERFLOW_BADLY"
    assert store.record(2**62) is None


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StoreError) as error:
        open_store(tmp_path / "file" / "store")

    assert error.value.code == "io"


@pytest.mark.parametrize("setting", [{"flush_mode": "never"}, {"store_host": ("localhost", 1)}])
def test_settings_out_of_range_are_refused(tmp_path: Path, setting: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Store(str(tmp_path), **setting)  # type: ignore[arg-type]


def test_threads_share_a_store(store: Store) -> None:
    def append_some() -> None:
        for _ in range(1_000):
            store.append("Orders", 0, b"x", b"")

    threads = [threading.Thread(target=append_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    offsets: list[int] = []
    while (result := store.read("Orders", 0, len(offsets), count_max=900)).count:
        offsets += [record.queue_offset for record in decode_records(result.body)]
    assert offsets == list(range(4000))


def test_the_example_record_of_the_reference_decodes() -> None:
    assert len(EXAMPLE_RECORD) == 101

    (record,) = decode_records(EXAMPLE_RECORD)

    assert (record.topic, record.body, record.properties) == ("T", b"hi", {"TAGS": "A"})
    assert (record.queue_id, record.queue_offset, record.log_position) == (2, 41, 123_456)
    assert record.store_host == ("10.0.0.1", 10_911)
    assert offset_message_id(*record.store_host, record.log_position) == (
        "0A00000100002A9F000000000001E240"
    )


@pytest.mark.parametrize("data", [b"\x00", b"\xff" * 200, EXAMPLE_RECORD[:-1], bytes(100)])
def test_bytes_that_are_no_records_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_records(data)


def test_properties_are_written_and_read() -> None:
    properties = {"TAGS": "a b", "\u00e9": "\u4e2d\U0001f600"}

    assert parse_properties(encode_properties(properties)) == properties
    assert parse_properties(b"A\x01\xff\x02B\x02C\x01") == {"A": "\ufffd"}
    assert encode_properties({}) == b""


@pytest.mark.parametrize(
    "properties", [{"": "x"}, {"a\x01": "x"}, {"a": "x\x02"}, {"a": "x" * 32_767}]
)
def test_properties_that_cannot_be_written_are_refused(properties: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        encode_properties(properties)


@pytest.mark.parametrize("tag", ["", "TagA", "\u4e2d\u6587", "\U0001f600", "polygenelubricants"])
def test_tags_hash_as_in_java(tag: str) -> None:
    expected = 0
    for unit in memoryview(tag.encode("utf-16-le")).cast("H"):
        expected = (expected * 31 + unit) & 0xFFFF_FFFF

    assert tag_hash(tag) & 0xFFFF_FFFF == expected


@pytest.mark.parametrize("text", ["", "00", "zz" * 16, "0A" * 17])
def test_what_is_no_message_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_offset_message_id(text)
