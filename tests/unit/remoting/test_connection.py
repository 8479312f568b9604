import pytest
from regent_engine import Decoder, encode_command

from backend.remoting.command import answer
from backend.remoting.connection import (
    EXT_COUNT_MAX,
    FRAME_SIZE_MAX,
    HEADER_SIZE_MAX,
    PeerConnection,
)
from backend.remoting.errors import LocalProtocolError, RemoteProtocolError, RequestTooLarge


def test_an_answer_finds_its_waiter_in_any_order():
    ours, theirs = PeerConnection[str](), PeerConnection[str]()
    theirs.receive_data(ours.request(34, "first") + ours.request(38, "second", ext={"a": "b"}))
    first, second = theirs.commands()

    ours.receive_data(answer(second, remark="late") + answer(first))

    found = [ours.take(command) for command in ours.commands()]
    assert found == ["second", "first"]
    assert second.ext == {"a": "b"}


def test_an_answer_without_a_request_has_no_waiter():
    ours = PeerConnection[str]()
    ours.receive_data(encode_command(code=0, opaque=9, flag=1))

    assert [ours.take(command) for command in ours.commands()] == [None]


def test_a_forgotten_waiter_ignores_its_late_answer():
    ours, theirs = PeerConnection[str](), PeerConnection[str]()
    theirs.receive_data(ours.request(34, "gone"))
    ours.forget("gone")

    ours.receive_data(answer(theirs.commands()[0]))

    assert [ours.take(command) for command in ours.commands()] == [None]


def test_notices_want_no_answer():
    ours, theirs = PeerConnection[str](), PeerConnection[str]()

    theirs.receive_data(ours.notice(904, ext={"k": "v"}))

    assert [command.is_oneway for command in theirs.commands()] == [True]
    assert list(ours.abandon()) == []


def test_open_requests_are_bounded():
    ours = PeerConnection[int](pending_count_max=2)
    ours.request(34, 1)
    ours.request(34, 2)

    with pytest.raises(LocalProtocolError):
        ours.request(34, 3)

    assert sorted(ours.abandon()) == [1, 2]


@pytest.mark.parametrize(
    ("ext", "body"),
    [
        ({"a": "." * (HEADER_SIZE_MAX - 150)}, b""),
        ({str(number): "." for number in range(EXT_COUNT_MAX)}, b""),
        ({}, b"." * (FRAME_SIZE_MAX - 150)),
    ],
)
def test_a_request_that_the_peer_would_not_read_is_not_passed_on(ext, body):
    # The peer would close the connection, and the requests of others would have no answer.
    clients, ours, theirs = PeerConnection[str](), PeerConnection[str](), PeerConnection[str]()
    theirs.receive_data(clients.request(34, "x", ext=ext, body=body))
    (command,) = theirs.commands()
    Decoder().receive(ours.passed_on(command, "as it is", {}))

    with pytest.raises(RequestTooLarge):
        ours.passed_on(command, "with another field", {"regentPassedOn": "." * 150})

    assert list(ours.abandon()) == ["as it is"]


def test_commands_come_out_whole_from_single_bytes():
    ours, theirs = PeerConnection[str](), PeerConnection[str]()
    frame = ours.request(105, "x", ext={"topic": "T"}, body=b"body")

    counts = []
    for at in range(len(frame)):
        theirs.receive_data(frame[at : at + 1])
        counts.append(len(theirs.commands()))

    assert counts == [0] * (len(frame) - 1) + [1]


@pytest.mark.parametrize("garbage", [b"\x7f\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n"])
def test_garbage_is_the_peers_mistake(garbage):
    with pytest.raises(RemoteProtocolError):
        PeerConnection[str]().receive_data(garbage)


def test_an_answer_may_have_a_header_as_large_as_we_write_them():
    ours, theirs = PeerConnection[str](), PeerConnection[str]()
    theirs.receive_data(ours.request(320, "batch"))
    ids = ",".join(f"{number:032X}" for number in range(40_000))

    ours.receive_data(answer(theirs.commands()[0], ext={"msgId": ids}))

    [command] = ours.commands()
    assert ours.take(command) == "batch"
    assert command.ext["msgId"] == ids
