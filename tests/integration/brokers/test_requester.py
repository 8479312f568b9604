"""One connection that asks, over a real socket: the peer asks back, breaks off or sends garbage."""

import asyncio

import pytest

from backend.remoting.connection import PeerConnection
from backend.remoting.errors import RemoteProtocolError
from backend.requester import connect
from tests.waiting import eventually

CODE = 7_001


class Peer:
    """Records the commands that it gets, and sends the test's answers."""

    def __init__(self):
        self.connection, self.commands, self.writer = PeerConnection(), [], None

    async def serve(self, reader, writer):
        self.writer = writer
        while data := await reader.read(65_536):
            self.connection.receive_data(data)
            self.commands += self.connection.commands()


@pytest.fixture
async def peer():
    made = Peer()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.address = server.sockets[0].getsockname()[:2]
    yield made
    server.close()


async def connected(peer, **given):
    requester = await connect(peer.address, peer_name="master", **given)
    await eventually(lambda: peer.writer is not None)
    return requester


async def test_requests_of_the_peer_are_declined_and_one_way_requests_are_not_answered(peer):
    requester = await connected(peer)

    peer.writer.write(peer.connection.notice(CODE))
    peer.writer.write(peer.connection.request(CODE, "asked"))
    await eventually(lambda: peer.commands)

    [told] = peer.commands
    assert (told.is_response, told.code) == (True, 3)
    assert peer.connection.take(told) == "asked"
    requester.close()


async def test_requests_of_the_peer_go_to_their_receiver(peer):
    taken = []
    requester = await connected(peer, on_request=taken.append)

    peer.writer.write(peer.connection.notice(CODE))
    await eventually(lambda: taken)

    assert [command.code for command in taken] == [CODE]
    requester.close()


@pytest.mark.parametrize(
    ("end", "error", "reason"),
    [
        (lambda writer: writer.write(b"\x7f\xff\xff\xff" * 4), RemoteProtocolError, None),
        (lambda writer: writer.close(), ConnectionError, "the master closed the connection"),
    ],
)
async def test_a_call_fails_with_its_connection_and_the_owner_is_notified(peer, end, error, reason):
    closed = []
    requester = await connected(peer, on_close=lambda: closed.append(True))
    waiting = asyncio.create_task(requester.call(CODE))
    await eventually(lambda: peer.commands)
    assert not requester.is_idle

    end(peer.writer)

    with pytest.raises(error, match=reason):
        await waiting
    await eventually(lambda: closed)
    assert (requester.is_open, requester.is_idle) == (False, True)
    with pytest.raises(ConnectionError, match="the connection to the master is closed"):
        await requester.call(CODE)


async def test_a_call_ends_at_its_deadline_and_leaves_the_connection_open(peer):
    requester = await connected(peer)
    now = asyncio.get_running_loop().time()

    with pytest.raises(TimeoutError):
        await requester.call(CODE, deadline=now + 0.01)

    assert (requester.is_open, requester.is_idle) == (True, True)
    requester.close()
