"""The hot path at its edges: broken streams, odd texts, closed stores, wrong types."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from regent_engine import (
    Connection,
    ProtocolError,
    Store,
    StoreError,
)

from tests.unit.engine.builders import (
    NOW_MS,
    PEER,
    answers,
    connect,
    hot_path,
    open_store,
    send,
    stored,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path)
    yield store
    store.close()


def test_a_broken_stream_closes_the_connection_but_keeps_what_came_before(store: Store) -> None:
    connection = connect(store)

    with pytest.raises(ProtocolError) as broken:
        connection.receive(send() + b"\xff\xff\xff\xff" + send(), NOW_MS)
    with pytest.raises(ProtocolError) as again:
        connection.receive(send(), NOW_MS)

    assert [code for _, code, _ in answers(broken.value.replies)] == [0]
    assert broken.value.received.arrivals == [("Orders", 2, 1)]
    assert again.value.replies == b""
    assert len(stored(store, 2)) == 1


def test_an_oversize_frame_is_refused_from_its_length(store: Store) -> None:
    with pytest.raises(ProtocolError, match="exceeds"):
        connect(store).receive((1 << 30).to_bytes(4), NOW_MS)


def test_a_region_with_quotes_is_written_as_it_is(store: Store) -> None:
    connection = Connection(hot_path(store, region='a"b\\'), PEER)

    received = connection.receive(send(), NOW_MS)

    ((_, _, ext),) = answers(received.replies)
    assert ext["MSG_REGION"] == 'a"b\\'


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_messages_and_answers_say_that_clients_shall_not_trace(store: Store, encoding: str) -> None:
    connection = Connection(hot_path(store, trace_on=False), PEER)

    received = connection.receive(send(encoding=encoding), NOW_MS)

    ((_, _, ext),) = answers(received.replies)
    (record,) = stored(store, 2)
    assert (ext["TRACE_ON"], record.properties["TRACE_ON"]) == ("false", "false")


def test_a_unique_key_with_quotes_is_answered_as_it_is(store: Store) -> None:
    received = connect(store).receive(send(properties={"UNIQ_KEY": 'k"\\\n'}), NOW_MS)

    ((_, _, ext),) = answers(received.replies)
    assert ext["transactionId"] == 'k"\\\n'


def test_a_connection_ends_with_its_store(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    connection = connect(store)
    store.close()

    with pytest.raises(StoreError) as error:
        connection.receive(send(), NOW_MS)

    assert error.value.code == "closed"


@pytest.mark.parametrize("data", [None, "text", 5])
def test_what_is_not_bytes_is_a_type_error_and_does_no_harm(store: Store, data: object) -> None:
    connection = connect(store)

    with pytest.raises(TypeError):
        connection.receive(data, NOW_MS)  # type: ignore[arg-type]

    assert len(answers(connection.receive(send(), NOW_MS).replies)) == 1


def test_a_peer_without_a_numeric_address_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="numeric"):
        Connection(hot_path(store), ("localhost", 1))


@pytest.mark.parametrize(
    ("address", "flag"),
    # The second is how a client of IPv4 is seen through a socket of IPv6.
    [("10.0.0.5", 0), ("::ffff:10.0.0.5", 0x10), ("2001:db8::5", 0x10)],
)
def test_the_flag_of_a_senders_host_follows_the_address_that_is_stored(
    store: Store, address: str, flag: int
) -> None:
    Connection(hot_path(store), (address, 7)).receive(send(sysFlag=0x30), NOW_MS)

    (record,) = stored(store, 2)
    assert (record.sys_flag, record.born_host) == (flag, (address, 7))
