"""Reads through the Python face: how far they see, and what they do not wait for."""

from pathlib import Path

import pytest
from regent_engine import (
    Command,
    Decoder,
    PropertyFilter,
    Store,
    decode_records,
    encode_command,
    encode_properties,
)

from tests.unit.engine.builders import open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path)


def test_readers_see_the_log_up_to_the_confirmed_position(store: Store) -> None:
    ends = [appended.log_position + appended.size for appended in append(store, 3)]

    first = store.set_confirmed_position(ends[0])
    assert (first, store.confirmed_position) == ([], ends[0])
    assert store.read("T", 0, 0).count == 1
    assert store.offsets("T", 0) == (0, 1)

    assert store.set_confirmed_position(ends[1]) == [("T", 0, 2)]
    assert store.set_confirmed_position(ends[0]) == []
    assert store.confirmed_position == ends[1]

    assert store.set_confirmed_position(None) == [("T", 0, 3)]
    assert store.confirmed_position == store.max_position


def test_what_is_in_memory_is_read_without_waiting(store: Store) -> None:
    append(store, 3)

    result = store.read_resident("T", 0, 1)

    assert result is not None
    assert [record.queue_offset for record in decode_records(result.body)] == [1, 2]


def test_records_that_lie_apart_are_one_body(store: Store) -> None:
    append(store, 2)
    store.append("other", 0, b"between", b"")
    append(store, 2)

    result = store.read("T", 0, 0)

    assert [record.body for record in decode_records(result.body)] == [b"0", b"1"] * 2


def test_an_expression_picks_records_in_either_kind_of_read(store: Store) -> None:
    # Case C9.
    for price in ("5", "15", "25"):
        store.append("T", 0, price.encode(), encode_properties({"price": price}))
    expression = PropertyFilter("price BETWEEN 10 AND 20")

    reads = [
        store.read("T", 0, 0, property_filter=expression),
        store.read_resident("T", 0, 0, property_filter=expression),
    ]

    for result in reads:
        assert result is not None
        assert [record.body for record in decode_records(result.body)] == [b"15"]
        assert result.next_offset == 3


@pytest.mark.parametrize(
    ("expression", "next_offset"),
    [
        ("a = 1", 800),
        ("a = 2 OR " * 999 + "a = 1", 133),
        ("a = 2 OR " * 7_000 + "a = 1", 32),
        ("a IN (" + "'2', " * 9_000 + "'1')", 800),
    ],
)
def test_a_long_expression_is_evaluated_for_fewer_messages_at_once(
    store: Store, expression: str, next_offset: int
) -> None:
    # Case C9: it must not keep other readers waiting.
    append(store, 1_000)

    result = store.read("T", 0, 0, property_filter=PropertyFilter(expression))

    assert (result.status, result.next_offset) == ("NO_MATCHED_MESSAGE", next_offset)


def test_an_expression_that_stock_refuses_says_where_it_is_wrong() -> None:
    # Case C9.
    with pytest.raises(ValueError, match="column 11: expected a string in quotes"):
        PropertyFilter("price IN (1)")
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        PropertyFilter("(" * 200 + "a = 1" + ")" * 200)


def test_cold_reads_are_smaller(tmp_path: Path) -> None:
    store = Store(str(tmp_path), segment_size_bytes=1 << 20, hot_size_bytes=2000)
    append(store, 40)

    assert store.read("T", 0, 0).count == 8
    assert store.read("T", 0, 30).count == 10


def test_the_head_of_a_frame_and_its_body_make_the_frame() -> None:
    whole = encode_command(code=11, opaque=7, ext={"a": "b"}, body=b"body")
    head = encode_command(code=11, opaque=7, ext={"a": "b"}, body_size=4)

    assert head + b"body" == whole
    (command,) = Decoder().receive(whole)
    assert isinstance(command, Command)
    with pytest.raises(ValueError, match="a body, or the size"):
        encode_command(code=11, opaque=7, body=b"body", body_size=4)


def append(store: Store, count: int) -> list:
    return [store.append("T", 0, b"%d" % number, b"") for number in range(count)]
