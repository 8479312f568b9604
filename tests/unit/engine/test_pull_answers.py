"""Answers of pulls that the engine writes to the client's socket by itself."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from regent_engine import (
    Command,
    Connection,
    Decoder,
    HotPath,
    PullGrant,
    Store,
    encode_command,
)

from tests.unit.engine.builders import NOW_MS, PEER, hot_path, open_store, send

KIB = 1 << 10
BODY_SIZE = 16 * KIB
A_PULL = 4
"""Messages; an answer has more than 64 KiB."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client's socket and ours, which does not wait."""
    client, ours = socket.socketpair()
    ours.settimeout(0)
    with client, ours:
        yield client, ours


def filled(store: Store, pulls: int) -> Connection:
    """Connect a consumer that may pull, to a queue with messages for so many pulls."""
    hot: HotPath = hot_path(store)
    connection = Connection(hot, PEER)
    for number in range(pulls * A_PULL):
        connection.receive(send(bytes([number % 251]) * BODY_SIZE), NOW_MS)
    hot.grant_pulls(grant_of(hot))
    return connection


def grant_of(hot: HotPath) -> PullGrant:
    return PullGrant(
        11,
        "g",
        "Orders",
        read_queue_count=4,
        tag_hashes=None,
        count_max=32,
        bytes_max=256 * KIB,
        suggested_broker_id=0,
        parked_ms=None,
        moves_consumers=True,
        facts_version=hot.facts_version,
        expression="*",
        expression_type="TAG",
    )


def pull(number: int) -> bytes:
    ext = {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueId": "2",
        "queueOffset": str(number * A_PULL),
        "maxMsgNums": str(A_PULL),
        "sysFlag": "4",
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }
    return encode_command(code=11, opaque=number, ext=ext)


def pulls(count: int) -> bytes:
    return b"".join(pull(number) for number in range(count))


def everything_in(client: socket.socket) -> bytes:
    client.settimeout(0)
    parts = []
    while True:
        try:
            part = client.recv(1 << 20)
        except BlockingIOError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def first_bytes(answers: list[Command]) -> list[int]:
    """The first byte of the first message of each answer, found behind its header."""
    return [
        answer.body[answer.body.index(bytes([answer.opaque * A_PULL]) * 64)] for answer in answers
    ]


def test_answers_go_to_the_socket_as_they_would_come_otherwise(
    store: Store, pair: tuple[socket.socket, socket.socket]
) -> None:
    client, ours = pair
    connection = filled(store, 1)
    short = pull(0).replace(b'"maxMsgNums":"4"', b'"maxMsgNums":"3"')
    assert short != pull(0)

    handed_over = connection.receive(short, NOW_MS, pull_bytes_max=KIB)
    written = connection.receive(short, NOW_MS, pull_bytes_max=KIB, socket=ours.fileno())

    assert handed_over.pull_answers is not None
    assert written.pull_answers is None
    assert everything_in(client) == handed_over.pull_answers
    assert written.pulled == handed_over.pulled
    assert written.cold == handed_over.cold == []


def test_a_long_answer_is_for_the_dispatcher_unless_the_socket_is_free(
    store: Store, pair: tuple[socket.socket, socket.socket]
) -> None:
    client, ours = pair
    connection = filled(store, 1)

    without = connection.receive(pull(0), NOW_MS, pull_bytes_max=KIB)
    written = connection.receive(pull(0), NOW_MS, pull_bytes_max=KIB, socket=ours.fileno())

    assert (len(without.cold), without.pull_answers) == (1, None)
    (answer,) = Decoder().receive(everything_in(client))
    assert len(answer.body) > 64 * KIB
    assert (written.cold, written.pull_answers) == ([], None)


def test_what_the_socket_does_not_take_is_left_to_be_written(
    store: Store, pair: tuple[socket.socket, socket.socket]
) -> None:
    client, ours = pair
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100 * KIB)
    count = 6
    connection = filled(store, count)

    received = connection.receive(
        pulls(count), NOW_MS, pull_bytes_max=KIB * KIB, socket=ours.fileno()
    )
    begun = everything_in(client)
    again = connection.receive(pull(0), NOW_MS, pull_bytes_max=KIB, socket=ours.fileno())

    assert begun
    assert received.pull_answers
    answers = Decoder().receive(begun + received.pull_answers)
    assert [answer.opaque for answer in answers] == list(range(count))
    assert first_bytes(answers) == [number * A_PULL for number in range(count)]
    size = sum(len(answer.body) for answer in answers)
    assert received.pulled == [("g", "Orders", 2, count, 0, count * A_PULL, size, count * A_PULL)]
    assert again.pull_answers is None, "it is free again"


@pytest.mark.parametrize("case", ["its client is gone", "it is closed"])
def test_a_socket_that_takes_nothing_loses_nothing(
    store: Store, pair: tuple[socket.socket, socket.socket], case: str
) -> None:
    client, ours = pair
    connection = filled(store, 1)
    number = ours.fileno()
    if case == "it is closed":
        number = os.dup(number)
        os.close(number)
    else:
        client.close()

    received = connection.receive(pull(0), NOW_MS, pull_bytes_max=KIB, socket=number)

    assert received.pull_answers is not None
    (answer,) = Decoder().receive(received.pull_answers)
    assert len(answer.body) == received.pulled[0][6]


@pytest.mark.parametrize("cut", [0, 3, 100, 300])
def test_once_there_is_enough_the_rest_of_the_slice_is_left(store: Store, cut: int) -> None:
    """However the frames are cut: of the first, `cut` bytes have come before."""
    hold, ours = socket.socketpair()
    with hold, ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        connection = filled(store, 6)
        chunk = pulls(6) + send(b"behind them")
        connection.receive(chunk[:cut], NOW_MS)
        answers, start, turns = b"", cut, []

        while start < len(chunk):
            received = connection.receive(
                chunk, NOW_MS, start=start, pull_bytes_max=100 * KIB, socket=ours.fileno()
            )
            assert received.cold == []
            answers += everything_in(hold) + (received.pull_answers or b"")
            start = len(chunk) - received.left
            turns.append(sum(pulled[3] for pulled in received.pulled))

    assert turns == [2, 2, 2, 0]
    assert [answer.opaque for answer in Decoder().receive(answers)] == list(range(6))
    (sent,) = Decoder().receive(received.replies)
    assert sent.code == 0


def test_pulls_without_a_taker_are_left_alone(store: Store) -> None:
    connection = filled(store, 2)

    received = connection.receive(pulls(2), NOW_MS)

    assert (len(received.cold), received.left, received.pull_answers) == (2, 0, None)


def test_an_answer_that_the_socket_does_not_take_is_left_of_a_pull_that_waited_as_well(
    store: Store, pair: tuple[socket.socket, socket.socket]
) -> None:
    client, ours = pair
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100 * KIB)
    hot = hot_path(store)
    connection = Connection(hot, PEER)
    count = 16
    (command,) = Decoder().receive(pull(7))
    for _ in range(count):
        assert connection.park(
            command, grant_of(hot), 2, 0, A_PULL, 1_000, wake_count=hot.wake_count
        )
    woken = connection.receive(send(bytes(BODY_SIZE)), NOW_MS)

    turn = hot.next_turn()
    received = connection.answer_parked(
        bytes_max=KIB * KIB, now_ms=0, elapsed_ms=0, socket=ours.fileno()
    )

    assert (woken.is_turn_due, turn, received.is_turn_due) == (True, connection.id, False)
    begun = everything_in(client)
    assert begun
    assert received.pull_answers
    answers = Decoder().receive(begun + received.pull_answers)
    assert [(answer.opaque, answer.code) for answer in answers] == [(7, 0)] * count
    assert (hot.parked_count, hot.next_turn()) == (0, None)


def test_a_pull_is_resumed_once(store: Store) -> None:
    hot = hot_path(store)
    connection = Connection(hot, PEER)
    (command,) = Decoder().receive(pull(7))
    assert connection.park(command, grant_of(hot), 2, 0, A_PULL, 1_000, wake_count=hot.wake_count)
    hot.facts_changed()
    connection.receive(send(b"x"), NOW_MS)
    hot.next_turn()
    unchecked = connection.answer_parked(bytes_max=KIB, now_ms=0, elapsed_ms=0).unchecked
    grant = grant_of(hot)

    assert unchecked is not None
    assert unchecked.command.ext == command.ext
    received = connection.resume(unchecked, grant, now_ms=0, elapsed_ms=0)

    assert received.pull_answers is not None
    (answer,) = Decoder().receive(received.pull_answers)
    assert (answer.opaque, answer.code) == (7, 0)
    with pytest.raises(ValueError, match="resumed before"):
        connection.resume(unchecked, grant, now_ms=0, elapsed_ms=0)
