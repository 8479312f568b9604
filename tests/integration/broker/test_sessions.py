import asyncio
import dataclasses
import fcntl
import socket
import struct
import termios
import time

import pytest
from regent_engine import Decoder, encode_command

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, pull_fields, send_fields
from tests.waiting import PATIENCE_S, eventually
from workers.broker import session, sessions
from workers.broker.requests.serving import REQUESTS
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


async def test_a_send_is_answered_while_the_broker_is_busy_with_a_question(
    broker, connect, monkeypatch
):
    """R8: the hot path waits for no work of the event loop."""
    asking, sender = await connect(broker), await connect(broker)
    await sender.send("T", b"create")
    served = REQUESTS[RequestCode.GET_ALL_TOPIC_CONFIG]
    answered = []

    def send_meanwhile(serving, caller, command):
        # The loop stands still here.
        answered.append(send_bare(broker.port))
        return served.processor(serving, caller, command)

    busy = dataclasses.replace(served, processor=send_meanwhile)
    monkeypatch.setitem(REQUESTS, RequestCode.GET_ALL_TOPIC_CONFIG, busy)

    answer = await asking.call(RequestCode.GET_ALL_TOPIC_CONFIG)

    assert answer.code == 0
    assert [one.ext["queueOffset"] for one in answered] == ["1"]


def send_bare(port):
    """Send a message from no event loop, and return the answer."""
    return call_bare(port, RequestCode.SEND_MESSAGE_V2, send_fields("T"), b"x")


def call_bare(port, code, fields, body=b""):
    """Ask by a new connection, from no event loop, and return the answer."""
    ext = {name: str(value) for name, value in fields.items()}
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as bare:
        frame = encode_command(code=code, opaque=1, ext=ext, body=body)
        bare.sendall(frame)
        decoder, answers = Decoder(), []
        while not answers:
            answers += decoder.receive(bare.recv(1 << 16))
    return answers[0]


COMMITS_AND_SUBSCRIBES = 5


async def test_a_commit_of_a_client_of_which_the_loop_has_not_heard_is_recorded(broker, client):
    """The thread answers the pull of a client that connects while the loop does other work."""
    await client.send("T", b"x")
    assert (await client.pull("T", sysFlag=COMMITS_AND_SUBSCRIBES)).code == 0
    ext = pull_fields("T") | {"sysFlag": COMMITS_AND_SUBSCRIBES, "commitOffset": 1}

    # The loop stands still here.
    pulled = call_bare(broker.port, RequestCode.PULL_MESSAGE, ext)
    broker.broker.take_progress()

    assert pulled.code == 0
    assert broker.broker.offsets.find("g", "T", 0) == 1


async def test_a_client_whose_commit_fails_is_closed_and_others_are_served(
    broker, connect, monkeypatch
):
    failing, other = await connect(broker), await connect(broker)
    await failing.send("T", b"x")
    assert (await failing.pull("T", sysFlag=COMMITS_AND_SUBSCRIBES)).code == 0

    def fail(*_args):
        raise OSError("the disk is full")

    monkeypatch.setattr(BrokerSession, "commit", fail)
    pull = failing.start_pull("T", sysFlag=COMMITS_AND_SUBSCRIBES, commitOffset=1)
    question = failing.start(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": 0})

    await asyncio.wait_for(failing.closed.wait(), PATIENCE_S)
    assert (await other.call(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": 0})).code == 0
    await asyncio.gather(pull, question, return_exceptions=True)


async def test_many_requests_of_one_client_take_turns_with_those_of_others(
    broker, connect, monkeypatch
):
    """Each of these requests fills a turn."""
    monkeypatch.setattr(session, "TURN_S", 0)
    for _ in range(2):
        await (await connect(broker)).heartbeat("g", "T")
    asking, other = broker.sessions.all
    frames = [
        encode_command(code=code, opaque=1, ext={"topic": "T", "queueId": "0"})
        for code in [RequestCode.GET_ALL_TOPIC_CONFIG] * 100 + [RequestCode.GET_MAX_OFFSET]
    ]
    *questions, question = Decoder().receive(b"".join(frames))
    served = []
    serve = BrokerSession._serve

    def note(caller, command):
        served.append(command.code)
        serve(caller, command)

    monkeypatch.setattr(BrokerSession, "_serve", note)

    asking.take(questions)
    other.take([question])

    assert served == [RequestCode.GET_ALL_TOPIC_CONFIG, RequestCode.GET_MAX_OFFSET]
    await eventually(lambda: served.count(RequestCode.GET_ALL_TOPIC_CONFIG) == 100)


async def test_an_idle_connection_is_closed_and_its_client_forgotten(broker, connect, monkeypatch):
    client = await connect(broker)
    await client.heartbeat("g", "T")
    broker.sweep()
    assert (await client.heartbeat("g", "T")).code == 0
    monkeypatch.setattr(sessions, "IDLE_S_MAX", -1)

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


class FlushError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def buffered(server):
    return sum(session.unwritten_bytes for session in server.sessions.all)


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
    await eventually(lambda: len(broker.sessions.all) == 1)
