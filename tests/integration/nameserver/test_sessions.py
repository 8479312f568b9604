"""Connections: what closes them, what closing them does, and what survives."""

import asyncio
import fcntl
import json
import socket
import struct
import termios
import time
from datetime import timedelta

import pytest
from regent_engine import encode_command
from structlog.testing import capture_logs

from backend.clients.clock import SystemClock
from backend.nameserver.dispatcher import dispatch
from backend.nameserver.live_settings import LiveSettings
from backend.nameserver.server import NameServer
from tests.integration.nameserver.broker_peer import PATIENT_MS, BrokerPeer, state

ROUTE = {"topic": "orders"}


async def test_a_closed_connection_takes_its_broker_out_at_once(
    client, second_client, name_server, eventually
):  # S95
    await second_client.register()
    assert (await client.ask(105, ROUTE)).code == 0

    await second_client.close()

    await eventually(lambda: name_server.describe().broker_count == 0)
    assert (await client.ask(105, ROUTE)).code == 17


async def test_a_broker_that_came_back_stays_when_its_old_connection_closes(
    client, second_client, name_server, eventually
):
    await second_client.register()
    await client.register()

    await second_client.close()

    await eventually(lambda: name_server.describe().connection_count == 1)
    assert (await client.ask(105, ROUTE)).code == 0


async def test_a_silent_broker_is_closed_and_taken_out(client, second_client):  # S94
    await second_client.register(heartbeatTimeoutMillis="1000")

    assert await second_client.is_closed_by_peer()

    assert (await client.ask(105, ROUTE)).code == 17


async def test_a_pause_of_this_process_makes_no_broker_silent(database, redis, connect):
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", 0, **stores, silence_scan_interval_s=0.01) as server:
        client = await connect(server)
        await client.register(heartbeatTimeoutMillis="1000")

        # All that runs here stands still, as a paused process does.
        time.sleep(2.5)  # noqa: ASYNC251
        await asyncio.sleep(0.05)

        assert server.describe().broker_count == 1
        assert (await client.ask(105, ROUTE)).code == 0


async def test_an_idle_peer_that_reads_no_more_does_not_keep_its_connection(
    monkeypatch, database, redis, connect, eventually
):
    monkeypatch.setattr("backend.nameserver.server.IDLE_SCAN_INTERVAL_S", 0.1)
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", 0, **stores) as server:
        client = await connect(server)
        await client.register(topics={f"topic-{n:04}" * 10: (1, 1, 6) for n in range(500)})
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
        reader._transport.pause_reading()
        writer.write(b"".join(encode_command(code=206, opaque=n) for n in range(1, 500)))
        await eventually(lambda: server.describe().connection_count == 2)
        own = "{}:{}".format(*writer.get_extra_info("sockname"))
        [session] = [one for one in server._sessions if one.peer == own]
        await eventually(session._transport.get_write_buffer_size)

        def is_dropped():
            # Put back, not waited for: who asks is not to seem idle on a busy machine.
            session.active_at_s -= LiveSettings().idle_timeout_s
            return server.describe().connection_count == 1

        await eventually(is_dropped)
        assert (await client.ask(105, ROUTE)).code == 17
        writer.transport.abort()


class HandClock(SystemClock):
    """A clock that is ahead by so much as it was put on."""

    ahead_ms = 0

    def now(self):
        return super().now() + timedelta(milliseconds=self.ahead_ms)


@pytest.mark.parametrize("step_s", [600, -600])
async def test_a_wall_clock_that_is_set_empties_no_route(database, redis, connect, step_s):
    # Case A9.
    clock = HandClock()
    stores = {"database": database, "redis": redis, "clock": clock}
    async with NameServer.serve("127.0.0.1", 0, **stores, silence_scan_interval_s=0.01) as server:
        client = await connect(server)
        broker = BrokerPeer(await connect(server), 1)
        await client.register(heartbeatTimeoutMillis="60000")
        await broker.apply()
        await broker.lease(heartbeatTimeoutMills="60000")
        await broker.elect()

        clock.ahead_ms = step_s * 1000
        await asyncio.sleep(1.5)

        assert (await client.ask(105, ROUTE)).code == 0
        assert not await broker.misses(1)
        assert (await state(broker))[:2] == (1, 1)


async def test_a_heartbeat_keeps_a_broker(database, redis, connect, eventually):
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", 0, **stores, silence_scan_interval_s=0.01) as server:
        client, kept, silent = [await connect(server) for _ in range(3)]
        await kept.register(topics={"kept": (1, 1, 6), "TBW102": (1, 1, 7)})
        await silent.register(brokerName="broker-b", brokerAddr="10.0.0.2:10911")
        ext = {"clusterName": "main", "brokerName": "broker-a", "brokerAddr": "10.0.0.1:10911"}

        for _ in range(2):
            for broker in server._presence._registered.values():
                broker.heard_at_ms -= PATIENT_MS * 2 // 3
            await kept.send(904, ext, oneway=True)
            # Answered after the heartbeat was heard.
            await kept.ask(105, ROUTE)

        await eventually(lambda: server.describe().broker_count == 1)
        assert (await client.ask(105, {"topic": "kept"})).code == 0


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 64,
        b"\x7f\xff\xff\xff\x00\x00\x00\x00",
        b"\x01\x00\x00\x01\x00\x00\x00\x10",
        b"\x00\x00\x00\x08\x00\x00\xff\xff\x00\x00\x00\x00",
        b"\x00\x00\x00\x06\x00\x00\x00\x02{]",
    ],
    ids=["http", "ones", "largest", "oversize", "header-beyond-frame", "broken-json"],
)
async def test_garbage_closes_its_connection_and_no_other(client, second_client, data):
    second_client.writer.write(data)

    assert await second_client.is_closed_by_peer()

    assert (await client.ask(9_999)).code == 3


async def test_requests_may_come_byte_by_byte_and_back_to_back(client):
    frames = b"".join(
        encode_command(code=105, opaque=number, ext=ROUTE, version=513) for number in range(3)
    )

    for byte in frames:
        client.writer.write(bytes([byte]))
        await client.writer.drain()
    client.writer.write(frames)

    opaques = [(await client.receive()).opaque for _ in range(6)]
    assert opaques == [0, 1, 2, 0, 1, 2]


async def test_a_peer_that_asks_much_at_once_takes_turns(client, second_client, monkeypatch):
    answered = []

    def noted(command, session, directory):
        answered.append(command.opaque)
        return dispatch(command, session, directory)

    monkeypatch.setattr("backend.nameserver.session.dispatch", noted)
    monkeypatch.setattr("backend.nameserver.session.TURN_S", 1e-9)
    await client.register()
    count = 500
    frames = [encode_command(code=206, opaque=n, version=513) for n in range(count)]

    second_client.writer.write(b"".join(frames) + b"\xff" * 64)
    client.writer.write(encode_command(code=105, opaque=count, ext=ROUTE, version=513))

    assert (await client.receive()).code == 0
    assert answered.index(count) < count // 2
    assert [(await second_client.receive()).opaque for _ in range(count)] == [*range(count)]
    assert await second_client.is_closed_by_peer()


async def test_a_peer_that_reads_late_is_answered_in_order(client, second_client):
    await client.register(topics={f"topic-{n:04}" * 10: (1, 1, 6) for n in range(500)})
    frames = [encode_command(code=206, opaque=n, version=513) for n in range(300)]

    second_client.writer.transport.pause_reading()
    second_client.writer.write(b"".join(frames[:299]))
    # All that the buffers take was answered before this one is.
    for _ in range(5):
        assert (await client.ask(105, ROUTE)).code != 1
    second_client.writer.transport.resume_reading()
    second_client.writer.write(frames[299])

    assert [(await second_client.receive()).opaque for _ in range(300)] == [*range(300)]


async def test_a_peer_that_reads_nothing_stops_being_read(client, second_client):
    await client.register()
    frame = encode_command(code=105, opaque=1, ext=ROUTE, version=513)

    second_client.writer.transport.pause_reading()
    for _ in range(200):
        second_client.writer.write(frame * 500)
        await asyncio.sleep(0)

    assert (await client.ask(105, ROUTE)).code == 0
    second_client.writer.transport.abort()


async def test_a_port_in_use_is_an_error_at_once(database, redis):
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    stores = {"database": database, "redis": redis, "clock": SystemClock()}

    with taken, pytest.raises(OSError, match="in use"):
        await NameServer.serve("127.0.0.1", port, **stores).__aenter__()


async def test_all_that_a_peer_sent_before_it_closed_is_served(client, name_server, eventually):
    # Case C1: its answers cannot be written any more.
    names = [f"key-{number}" for number in range(200)]
    frames = [
        encode_command(
            code=100, opaque=number, ext={"namespace": "last", "key": name, "value": "v"}
        )
        for number, name in enumerate(names)
    ]

    def send_and_reset():
        with socket.create_connection(("127.0.0.1", name_server.port)) as bare:
            for frame in frames:
                bare.sendall(frame)
            while fcntl.ioctl(bare, termios.TIOCOUTQ, bytes(4)) != bytes(4):
                time.sleep(0.001)
            bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def count():
        answer = await client.ask(219, {"namespace": "last"})
        return 0 if answer.code else len(json.loads(answer.body)["table"])

    await asyncio.to_thread(send_and_reset)

    await eventually(lambda: name_server.describe().connection_count == 1)
    assert await count() == len(names)


async def test_a_peer_that_speaks_tls_is_named_in_the_log_once(name_server):
    # Case C10.
    reader, writer = await asyncio.open_connection("127.0.0.1", name_server.port)

    with capture_logs() as logs:
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500))
        rest = await reader.read()
        writer.close()

    assert rest == b""
    told = [one["error"] for one in logs if one["event"] == "peer_broke_protocol"]
    assert len(told) == 1
    assert "the peer speaks TLS" in told[0]
