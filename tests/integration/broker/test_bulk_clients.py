"""Clients that are handed much: what goes to their socket at once, and what is left for later."""

import asyncio
import socket
import struct

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, pull_fields, send_fields
from tests.waiting import PATIENCE_S, eventually
from workers.broker.processors.pulling import Pull

ANSWER_BYTES_MIN = 240_000


@pytest.fixture
async def much(broker, connect):
    """Put a quarter of a megabyte into a queue, and have pulls of it granted."""
    client = await connect(broker)
    for _ in range(4):
        await client.send("T", b"x" * 60_000)
    await client.pull("T")
    return broker


async def connected_slowly(broker):
    """Give a client whose socket takes little at a time."""
    ours = socket.socket()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    ours.settimeout(0)
    await asyncio.get_running_loop().sock_connect(ours, ("127.0.0.1", broker.port))
    return Client(*await asyncio.open_connection(sock=ours))


def request(client, code, fields, body=b""):
    """Encode a request, and give it with what will be its answer."""
    answer = asyncio.get_running_loop().create_future()
    ext = {name: str(value) for name, value in fields.items()}
    return client.peer.request(code, answer, ext=ext, body=body), answer


def pulls(client, count):
    """Encode pulls of all that is there."""
    both = [request(client, RequestCode.PULL_MESSAGE, pull_fields("T")) for _ in range(count)]
    return b"".join(frame for frame, _ in both), [answer for _, answer in both]


async def test_answers_to_sends_stay_out_of_answers_that_the_socket_took_in_part(much):
    client = await connected_slowly(much)
    sent, pulled = [], []

    # Each pair is one slice, and no client reads meanwhile.
    for _ in range(20):
        fields = send_fields("T", queue_id=1)
        frame, answer = request(client, RequestCode.SEND_MESSAGE_V2, fields, b"a")
        sent.append(answer)
        more, answers = pulls(client, 1)
        pulled += answers
        client.writer.write(frame + more)
        await asyncio.sleep(0.002)
    client.task = asyncio.create_task(client.read())

    async with asyncio.timeout(PATIENCE_S):
        assert {answer.code for answer in await asyncio.gather(*sent)} == {0}
        sizes = [len(answer.body) for answer in await asyncio.gather(*pulled)]
    assert min(sizes) > ANSWER_BYTES_MIN
    await client.close()


async def test_a_client_that_says_no_more_is_answered_all_that_it_asked_for(much, connect):
    client = await connect(much)
    frames, answers = pulls(client, 40)

    client.writer.write(frames)
    client.writer.write_eof()

    async with asyncio.timeout(PATIENCE_S):
        assert {
            len(answer.body) > ANSWER_BYTES_MIN for answer in await asyncio.gather(*answers)
        } == {True}


async def test_nothing_is_read_for_a_client_that_is_gone(much, monkeypatch):
    in_vain = []
    run = Pull.run

    def listen(pull):
        in_vain.append(pull.caller.is_gone)
        return run(pull)

    monkeypatch.setattr(Pull, "run", listen)
    client = await connected_slowly(much)
    frames, _ = pulls(client, 400)

    client.writer.write(frames)
    await eventually(lambda: any(session.unwritten_bytes for session in much.sessions.all))
    ours = client.writer.get_extra_info("socket")
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.writer.transport.abort()
    address = "{}:{}".format(*ours.getsockname())

    await eventually(lambda: address not in {session.address for session in much.sessions.all})
    assert not any(in_vain)


async def test_a_client_reads_on_after_it_was_handed_much_and_then_little(much, connect):
    client = await connect(much)
    for _ in range(3):
        frames, answers = pulls(client, 5)
        client.writer.write(frames)
        await asyncio.gather(*answers)

        assert len((await client.pull("T", maxMsgNums=1)).body) < ANSWER_BYTES_MIN
        assert (await client.send("T", b"y", queue_id=1)).code == 0
