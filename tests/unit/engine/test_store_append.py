"""A message of the agent's own is stored, and refused, as one that a client sends in a frame."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from regent_engine import Connection, Decoder, Store, StoreError, encode_properties

from tests.unit.engine.builders import NOW_MS, PEER, hot_path, open_store, send, stored

ADDED_BY_THE_BROKER = {"CLUSTER": "cluster-1", "MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}


@pytest.fixture
def open_one(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    stores = []

    def open_named(name: str) -> Store:
        stores.append(open_store(tmp_path / name))
        return stores[-1]

    yield open_named
    for store in stores:
        store.close()


def send_in_frame(
    store: Store,
    body: bytes = b"body",
    properties: bytes = b"",
    *,
    sys_flag: int = 0,
    peer: tuple[str, int] = PEER,
    encoding: str = "json",
) -> int:
    """Send to queue 2 of Orders in a frame, and return the code of the answer."""
    frame = send(body, properties=properties, sysFlag=sys_flag, reconsumeTimes=3, encoding=encoding)
    received = Connection(hot_path(store), peer).receive(frame, NOW_MS)
    (answer,) = Decoder().receive(received.replies)
    return answer.code


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
@pytest.mark.parametrize("peer", [PEER, ("2001:db8::5", 7)])
@pytest.mark.parametrize(
    "properties",
    [
        {"UNIQ_KEY": "k"},
        {"UNIQ_KEY": "k", "TAGS": "TagA", "KEYS": "a b", "\u00e9": "\u4e2d"},
    ],
    ids=["bare", "with tags and keys"],
)
def test_an_appended_message_has_the_bytes_of_the_same_message_in_a_frame(
    open_one: Callable[[str], Store],
    properties: dict[str, str],
    peer: tuple[str, int],
    encoding: str,
) -> None:
    sent, own = open_one("sent"), open_one("own")
    # A compressed body is stored as it is.
    code = send_in_frame(
        sent, b"payload", encode_properties(properties), sys_flag=1, peer=peer, encoding=encoding
    )
    (expected,) = stored(sent, 2)

    appended = own.append(
        "Orders",
        2,
        b"payload",
        encode_properties(properties | ADDED_BY_THE_BROKER),
        flag=7,
        sys_flag=1,
        born_timestamp_ms=NOW_MS - 5,
        born_host=peer,
        reconsume_times=3,
    )

    assert (code, expected.sys_flag & 1) == (0, 1)
    # Only the frame was received at a time that the test chose.
    stored_at, received_at = appended.store_timestamp_ms.to_bytes(8), NOW_MS.to_bytes(8)
    assert own.record(0).replace(stored_at, received_at) == sent.record(0)
    assert own.entries("Orders", 2, 0, 9) == sent.entries("Orders", 2, 0, 9)
    assert own.offsets("Orders", 2) == sent.offsets("Orders", 2) == (0, 1)


@pytest.mark.parametrize(
    ("body", "properties", "code"),
    [
        (b"x" * 100_001, b"", "illegal_message"),
        (b"x", b"K\x01" + b"v" * 32_766, "properties_too_large"),
        (b"x", b"\0K\x01v\x02", "blank_properties"),
    ],
    ids=["too large a body", "too long properties", "properties that begin with NUL"],
)
def test_what_a_frame_must_not_hold_is_refused_in_an_append_too(
    open_one: Callable[[str], Store], body: bytes, properties: bytes, code: str
) -> None:
    store = open_one("one")
    assert send_in_frame(store) == 0
    end = store.max_position

    in_frame = send_in_frame(store, body, properties)
    with pytest.raises(StoreError) as refused:
        store.append("Orders", 2, body, properties)

    assert (in_frame, refused.value.code) == (13, code)
    assert (store.max_position, store.offsets("Orders", 2)) == (end, (0, 1))


def test_a_sealed_queue_refuses_both_until_its_seal_is_gone(
    open_one: Callable[[str], Store],
) -> None:
    store = open_one("one")
    store.append("Orders", 2, b"before", b"")
    assert store.seal_queue("Orders", 2) == 1

    in_frame = send_in_frame(store)
    with pytest.raises(StoreError) as refused:
        store.append("Orders", 2, b"own", b"")
    elsewhere = store.append("Orders", 1, b"own", b"")
    store.unseal_queue("Orders", 2)

    assert (in_frame, refused.value.code) == (501, "queue_sealed")
    assert elsewhere.queue_offset == 0
    assert store.append("Orders", 2, b"after", b"").queue_offset == 1
    assert send_in_frame(store) == 0
