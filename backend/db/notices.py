"""Hear what others notify of, over a connection that only listens.

psycopg's own way sets up anew for each notice what waits for the socket, which costs more than all
that is done with most of them. So this reads from libpq as the pipeline does.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import psycopg

from backend.db.engine import Database, connect

LOOK_INTERVAL_S: Final = 1.0
"""How often the socket is read unasked: uvloop stops to watch one with an error (a reset by a
server that crashed) and tells nobody."""


@asynccontextmanager
async def listen(
    database: Database, *channels: str, application_name: str
) -> AsyncIterator[AsyncIterator[str]]:
    """Listen while the context is open: what is committed from its opening on is heard.

    Yields the payload of each notice.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    payloads: deque[str] = deque()
    async with await connect(database.url, application_name=application_name) as connection:
        # Some may come along with the answer to LISTEN.
        connection.add_notify_handler(lambda notice: payloads.append(notice.payload))
        for channel in channels:
            await connection.execute(f"LISTEN {channel}")
        with _watched(connection.pgconn.socket) as readable:
            yield _hear(connection, payloads, readable)


@contextmanager
def _watched(socket: int) -> Iterator[asyncio.Event]:
    """Give what is set whenever there may be something to read."""
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
