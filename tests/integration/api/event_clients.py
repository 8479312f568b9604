"""Subscribers of events whose sockets can be killed at any moment, and writers of events."""

import asyncio
import contextlib
import json
import random
import sys
from datetime import UTC, datetime

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from backend.db import events
from backend.db.engine import open_database
from backend.domain.event import NewEvent

SUBSCRIPTION = (
    "subscription ($after: Int64, $cluster: String, $kinds: [String!]) {"
    " events(after: $after, cluster: $cluster, kinds: $kinds)"
    " { number kind clusterName subject details operationId } }"
)


def new_event(subject="g", *, kind="group.master_elected", cluster="c", **details):
    return NewEvent(kind, cluster, subject, datetime.now(UTC), details)


async def write(database, *new_events):
    """Commit some events in one transaction."""
    async with database.begin() as connection:
        await events.stage(connection, new_events or [new_event()])


async def write_at_random(database, *, count, per_second, writer_count=8):
    """Write events in transactions that overlap, and end in another order than they began.

    Gives how many a second there were.
    """
    left, interval_s = count, writer_count / per_second
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def one(name):
        nonlocal left
        own = 0
        while left > 0:
            size = min(left, random.randint(1, 16))
            left -= size
            async with database.begin() as connection:
                await events.stage(
                    connection, [new_event(f"{name}", turn=own + i) for i in range(size)]
                )
                await asyncio.sleep(random.random() * 0.01)
            own += size
            await asyncio.sleep(max(0.0, begun + own * interval_s - loop.time()))

    await asyncio.gather(*(one(name) for name in range(writer_count)))
    return count / (loop.time() - begun)


class SseClient:
    """Keeps the events it received, and its cursor as a browser does."""

    def __init__(self, port, token, *, after=None, query=""):
        self.port, self.token, self.query = port, token, query
        self.position, self.events, self.end = after, [], None
        self._writer = None

    async def follow(self):
        """Follow until the stream ends or the socket is killed; give the status."""
        try:
            reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return None
        cursor = "" if self.position is None else f"Last-Event-ID: {self.position}\r\n"
        head = f"GET /api/v1/events{self.query} HTTP/1.1\r\nHost: test\r\n{cursor}"
        head += f"Accept: text/event-stream\r\nAuthorization: Bearer {self.token}\r\n\r\n"
        try:
            self._writer.write(head.encode())
            status = int((await reader.readuntil(b"\r\n")).split()[1])
            await reader.readuntil(b"\r\n\r\n")
            if status != 200:
                return status
            await self._read(reader)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writer.close()
        return 200

    async def _read(self, reader):
        rest = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            rest += await reader.readexactly(size)
            await reader.readexactly(2)
            *blocks, rest = rest.split(b"\n\n")
            for block in blocks:
                self._take(dict(line.split(": ", 1) for line in block.decode().split("\n")))

    def _take(self, fields):
        if fields.get("event") == "end":
            self.end = json.loads(fields["data"])
            return
        if "data" in fields:
            event = json.loads(fields["data"])
            assert event["number"] == int(fields["id"])
            self.events.append(event)
        if "id" in fields:
            self.position = int(fields["id"])

    def kill(self):
        if self._writer is not None:
            self._writer.transport.abort()


class SocketClient:
    """Follows over a WebSocket; its cursor is the number of the last event."""

    def __init__(self, port, token, *, after=None, **variables):
        self.port, self.token, self.variables = port, token, variables
        self.position, self.events, self.error = after, [], None
        self._socket = None

    async def follow(self):
        after = None if self.position is None else str(self.position)
        # A server that stops or is killed under a handshake answers with half of one, or with 500.
        with contextlib.suppress(OSError, ConnectionClosed, InvalidHandshake):
            async with connect(
                f"ws://127.0.0.1:{self.port}/graphql",
                subprotocols=["graphql-transport-ws"],
                additional_headers={"Authorization": f"Bearer {self.token}"},
                origin=f"http://127.0.0.1:{self.port}",
            ) as self._socket:
                await self._socket.send(json.dumps({"type": "connection_init"}))
                await self._socket.recv()
                payload = {"query": SUBSCRIPTION, "variables": {**self.variables, "after": after}}
                message = {"id": "1", "type": "subscribe", "payload": payload}
                await self._socket.send(json.dumps(message))
                async for text in self._socket:
                    if not self._take(json.loads(text)):
                        return

    def _take(self, message):
        if message["type"] != "next":
            return False
        if errors := message["payload"].get("errors"):
            self.error = errors[0]
            return True
        event = message["payload"]["data"]["events"]
        event["number"] = int(event["number"])
        self.position = event["number"]
        self.events.append(event)
        return True

    def kill(self):
        if self._socket is not None:
            self._socket.transport.abort()


async def _write_as_a_process(database_url, count, per_second):
    database = open_database(database_url, application_name="writers", pool_size=8)
    rate = await write_at_random(database, count=count, per_second=per_second)
    await database.dispose()
    print(rate)  # noqa: T201 - the parent process reads it


if __name__ == "__main__":
    asyncio.run(_write_as_a_process(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
