import asyncio
import fcntl
import socket
import struct
import termios
import time

import pytest
from regent_engine import StoreError, encode_command

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, send_fields
from tests.waiting import PATIENCE_S, eventually
from workers.broker import session
from workers.broker.session import BrokerSession

MEGABYTE = 1 << 20


async def test_many_sends_in_one_chunk_are_answered_each(client):
    await client.send("T", b"create")

    answers = await asyncio.gather(
        *(
            client.start(RequestCode.SEND_MESSAGE_V2, send_fields("T"), b"%d" % number)
            for number in range(500)
        )
    )

    offsets = [int(answer.ext["queueOffset"]) for answer in answers]
    assert offsets == list(range(1, 501))


async def test_more_requests_than_may_be_open_are_all_answered_in_time(client):
    creations = [
        client.start(RequestCode.SEND_MESSAGE_V2, send_fields(f"T{number}"), b"x")
        for number in range(300)
    ]

    answers = await asyncio.gather(*creations)

    assert {answer.code for answer in answers} == {0}


async def connected_to_much(broker, connect):
    """A bare connection to a broker that has a quarter of a megabyte in a queue."""
    sender = await connect(broker)
    for _ in range(4):
        await sender.send("T", b"x" * 60_000)
    return await asyncio.open_connection("127.0.0.1", broker.port, limit=1)


async def test_a_client_that_does_not_read_does_not_fill_the_memory(broker, connect):
    reader, writer = await connected_to_much(broker, connect)
    deaf = Client(reader, writer)
    reader._transport.pause_reading()

    pulls = [deaf.start_pull("T") for _ in range(400)]
    await until_still(lambda: buffered(broker))

    assert buffered(broker) < 8 * MEGABYTE
    deaf.task = asyncio.create_task(deaf.read())
    reader._transport.resume_reading()
    answers = await asyncio.gather(*pulls)
    assert {len(answer.body) > 240_000 for answer in answers} == {True}
    await deaf.close()


async def test_a_send_waits_for_one_of_many_that_are_handed_much(broker, connect, monkeypatch):
    sender = await connect(broker)
    for _ in range(4):
        await sender.send("T", b"x" * 60_000)
    pullers = [await connect(broker) for _ in range(6)]
    for puller in pullers:
        assert len((await puller.pull("T")).body) > 240_000
    ours = sender.writer.get_extra_info("sockname")
    served = []
    receive = BrokerSession._receive

    def note(caller, size, **how):
        served.append("send" if caller.peer == ours else "pull")
        receive(caller, size, **how)

    monkeypatch.setattr(BrokerSession, "_receive", note)

    # All of them reach the broker before it looks.
    pulls = [puller.start_pull("T") for puller in pullers]
    sent = sender.start(RequestCode.SEND_MESSAGE_V2, send_fields("T"), b"a little")
    await asyncio.gather(sent, *pulls)

    assert served.count("pull") == len(pullers)
    assert served.index("send") <= 1


async def test_a_send_waits_for_a_turn_of_many_requests_of_another_client(
    broker, connect, monkeypatch
):
    """R8: each of these requests fills a turn."""
    monkeypatch.setattr(session, "TURN_S", 0)
    asking, sender = await connect(broker), await connect(broker)
    await sender.send("T", b"create")
    served = []
    serve, receive = BrokerSession._serve, BrokerSession._receive
    ours = sender.writer.get_extra_info("sockname")

    def note(caller, command):
        served.append("question")
        serve(caller, command)

    def note_received(caller, size, **how):
        if caller.peer == ours:
            served.append("send")
        receive(caller, size, **how)

    monkeypatch.setattr(BrokerSession, "_serve", note)
    monkeypatch.setattr(BrokerSession, "_receive", note_received)

    # Both chunks reach the broker before it looks.
    questions = [asking.start(RequestCode.GET_ALL_TOPIC_CONFIG) for _ in range(100)]
    sent = sender.start(RequestCode.SEND_MESSAGE_V2, send_fields("T"), b"a little")
    answers = await asyncio.gather(sent, *questions)

    assert {answer.code for answer in answers} == {0}
    assert served.count("question") == 100
    assert served.index("send") <= 3


async def test_an_idle_connection_is_closed_and_its_client_forgotten(broker, connect):
    client = await connect(broker)
    await client.heartbeat("g", "T")
    next(iter(broker._sessions)).active_at -= 121

    broker.sweep()

    await asyncio.wait_for(client.closed.wait(), PATIENCE_S)
    await eventually(lambda: broker.broker.consumers.find("g") is None)


async def test_a_client_that_stopped_reading_is_forgotten_with_its_connection(broker, connect):
    reader, writer = await connected_to_much(broker, connect)
    stopped = Client(reader, writer)
    stopped.task = asyncio.create_task(stopped.read())
    await stopped.heartbeat("g", "T")
    reader._transport.pause_reading()
    pulls = [stopped.start_pull("T") for _ in range(100)]
    await eventually(lambda: buffered(broker))
    await until_still(lambda: buffered(broker))
    member = next(iter(broker.broker.consumers.find("g").members.values()))
    member.seen_at_ms -= 121_000

    broker.sweep()

    await eventually(lambda: broker.broker.consumers.find("g") is None)
    reader._transport.resume_reading()
    await asyncio.gather(*pulls, return_exceptions=True)


async def test_a_client_without_heartbeats_is_closed(broker, connect):
    client = await connect(broker)
    await client.heartbeat("g", "T")
    member = next(iter(broker.broker.consumers.find("g").members.values()))
    member.seen_at_ms -= 121_000

    broker.sweep()

    await asyncio.wait_for(client.closed.wait(), PATIENCE_S)


async def test_a_failed_flush_ends_writing_and_is_not_reported_as_success(start_broker, connect):
    server = await start_broker(flushDiskType="SYNC_FLUSH")
    client = await connect(server)
    await client.send("T", b"x")

    server.broker.flusher._fail(FlushError("io", "the disk is gone"))
    refused = await client.send("T", b"y")

    assert refused.code == 14


class EndingConnection:
    """A connection whose store does no work any more once a slice was served."""

    def __init__(self, connection):
        self._connection, self._is_over = connection, False

    def receive(self, *chunk, **fields):
        if self._is_over:
            raise StoreError("it panicked")
        self._is_over = True
        return self._connection.receive(*chunk, **fields)


async def test_a_client_that_waits_for_a_failed_store_is_released(broker, connect):
    client = await connect(broker)
    await client.heartbeat("g", "T")
    (session,) = broker._sessions
    session._connection = EndingConnection(session._connection)

    # It is served in several turns of the loop, and only the first finds the store.
    sent = client.start(RequestCode.SEND_MESSAGE_V2, send_fields("T"), bytes(50_000))

    with pytest.raises(ConnectionResetError):
        await sent
    await eventually(lambda: not broker._sessions)
    assert broker.broker.consumers.find("g") is None


class FlushError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def buffered(server):
    return sum(session._transport.get_write_buffer_size() for session in server._sessions)


async def until_still(figure):
    """Wait until a figure has stopped moving."""
    last, since = None, time.monotonic()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and time.monotonic() - since < 0.3:
        if figure() != last:
            last, since = figure(), time.monotonic()
        await asyncio.sleep(0.02)


LAST_COMMIT_COUNT = 200
NOTHING = struct.pack("i", 0)


def commit_frames(count):
    """Commits one behind the other, each of which wants an answer."""
    return [
        encode_command(
            code=RequestCode.UPDATE_CONSUMER_OFFSET,
            opaque=number,
            ext={
                "consumerGroup": "g",
                "topic": "T",
                "queueId": "0",
                "commitOffset": str(number),
            },
        )
        for number in range(1, count + 1)
    ]


async def a_client_that_leaves(broker, frames, *, leave):
    """Send frames from a thread, as a client in another process does, and leave without reading."""

    def send_and_leave():
        with socket.create_connection(("127.0.0.1", broker.port)) as bare:
            for frame in frames:
                bare.sendall(frame)
            # A reset drops what its own system still holds: that the broker's system cannot have.
            while fcntl.ioctl(bare, termios.TIOCOUTQ, NOTHING) != NOTHING:
                time.sleep(0.001)
            leave(bare)

    await asyncio.to_thread(send_and_leave)


def close_at_once(_bare):
    pass


def reset(bare):
    bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("leave", [close_at_once, reset])
async def test_all_that_a_client_sent_before_it_closed_is_served(broker, client, leave):
    # Case C1: its answers cannot be written any more.
    await client.heartbeat("g", "T")
    for number in range(LAST_COMMIT_COUNT):
        await client.send("T", b"%d" % number)
    offsets = broker.broker.offsets

    for _ in range(40):
        offsets.commit("g", "T", queue_id=0, offset=0)

        frames = commit_frames(LAST_COMMIT_COUNT)
        await a_client_that_leaves(broker, frames, leave=leave)

        await eventually(lambda: offsets.find("g", "T", 0) == LAST_COMMIT_COUNT)
    await eventually(lambda: len(broker._sessions) == 1)
