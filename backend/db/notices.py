"""Receive notices over a connection that only listens.

psycopg registers the wait for the socket again for each notice, which costs more than handling most
notices. So this module reads from libpq like the pipeline.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import psycopg

from backend.db.engine import Database, connect

LOOK_INTERVAL_S: Final = 1.0
"""How often the socket is read without an event.

uvloop stops to watch a socket with an error (a reset by a crashed server) without a report.
"""


@asynccontextmanager
async def listen(
    database: Database, *channels: str, application_name: str
) -> AsyncIterator[AsyncIterator[str]]:
    """Listen while the context is open; notices of all commits since then arrive.

    Yields the payload of each notice.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    payloads: deque[str] = deque()
    async with await connect(database.url, application_name=application_name) as connection:
        # Some notices may arrive with the answer to LISTEN.
        connection.add_notify_handler(lambda notice: payloads.append(notice.payload))
        for channel in channels:
            await connection.execute(f"LISTEN {channel}")
        with _watched(connection.pgconn.socket) as readable:
            yield _hear(connection, payloads, readable)


@contextmanager
def _watched(socket: int) -> Iterator[asyncio.Event]:
    """Yield an event that is set whenever there may be bytes to read."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    looking: asyncio.TimerHandle

    def look() -> None:
        nonlocal looking
        readable.set()
        looking = loop.call_later(LOOK_INTERVAL_S, look)

    looking = loop.call_later(LOOK_INTERVAL_S, look)
    loop.add_reader(socket, readable.set)
    try:
        yield readable
    finally:
        looking.cancel()
        loop.remove_reader(socket)


async def _hear(
    connection: psycopg.AsyncConnection, payloads: deque[str], readable: asyncio.Event
) -> AsyncIterator[str]:
    libpq = connection.pgconn
    while True:
        readable.clear()
        libpq.consume_input()
        while notice := libpq.notifies():
            payloads.append(notice.extra.decode())
        while payloads:
            yield payloads.popleft()
        await readable.wait()
