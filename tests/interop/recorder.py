"""A TCP proxy that stands between stock clients and a cluster and keeps every byte of both.

Clients are given the recorder's address as their name server. It replaces the brokers' addresses in
the name server's answers by its own, so that the clients' connections to brokers pass through it
too. It keeps the frames of the peers, before that replacement.
"""

import asyncio
import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

CHUNK_SIZE = 1 << 16
LENGTH_SIZE = 4
HEADER_LENGTH_MASK = 0xFFFFFF


class Recorder:
    """One proxy port per server; a file for each direction of each connection.

    Files are named `<number>-<server>.requests` (what the client sent) and `.answers`.
    """

    def __init__(self, directory: Path, name_server: str, brokers: Mapping[str, str]) -> None:
        self._directory = directory
        self._name_server = name_server
        self._brokers = brokers
        self._numbers = itertools.count(1)
        self._servers: list[asyncio.Server] = []
        self._connections: dict[asyncio.Task[None], str] = {}
        self._replacements: dict[bytes, bytes] = {}
        self.name_server_address = ""

    async def listen(self) -> None:
        """Open a port for every broker and for the name server."""
        self._loop = asyncio.get_running_loop()
        for name, address in self._brokers.items():
            own = await self._open(name, address)
            self._replacements[address.encode()] = own.encode()
        self.name_server_address = await self._open("name-server", self._name_server)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        await self._cut(list(self._connections))

    def cut(self, name: str) -> None:
        """Close all connections to a server; clients may connect again at once."""
        open_now = [task for task, server in self._connections.items() if server == name]
        asyncio.run_coroutine_threadsafe(self._cut(open_now), self._loop).result(timeout=10)

    async def _cut(self, connections: list[asyncio.Task[None]]) -> None:
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _open(self, name: str, address: str) -> str:
        async def on_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._connections[task] = name
            try:
                await self._relay(name, address, reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # Either side may leave at any time; what it sent is kept.
            finally:
                writer.close()
                self._connections.pop(task, None)

        server = await asyncio.start_server(on_client, "127.0.0.1", 0)
        self._servers.append(server)
        host, port = server.sockets[0].getsockname()
        return f"{host}:{port}"

    async def _relay(
        self,
        name: str,
        address: str,
        client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
    ) -> None:
        host, _, port = address.rpartition(":")
        server, to_server = await asyncio.open_connection(host, int(port))
        stem = self._directory / f"{next(self._numbers):05}-{name}"
        answers = self._relay_rewritten if name == "name-server" else _copy
        try:
            with (
                stem.with_suffix(".requests").open("wb") as sent,
                stem.with_suffix(".answers").open("wb") as received,
            ):
                directions = (
                    asyncio.create_task(_copy(client, to_server, sent)),
                    asyncio.create_task(answers(server, to_client, received)),
                )
                try:
                    await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for direction in directions:
                        direction.cancel()
                    await asyncio.gather(*directions, return_exceptions=True)
        finally:
            to_server.close()

    async def _relay_rewritten(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        kept: BinaryIO,
    ) -> None:
        while True:
            prefix = await reader.readexactly(LENGTH_SIZE)
            content = await reader.readexactly(int.from_bytes(prefix, "big"))
            kept.write(prefix + content)
            header_end = LENGTH_SIZE + (int.from_bytes(content[:4], "big") & HEADER_LENGTH_MASK)
            body = content[header_end:]
            for address, own in self._replacements.items():
                body = body.replace(b'"' + address + b'"', b'"' + own + b'"')
            content = content[:header_end] + body
            writer.write(len(content).to_bytes(LENGTH_SIZE, "big") + content)
            await writer.drain()


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    kept: BinaryIO,
) -> None:
    while chunk := await reader.read(CHUNK_SIZE):
        kept.write(chunk)
        writer.write(chunk)
        await writer.drain()


@contextmanager
def recording(directory: Path, name_server: str, brokers: Mapping[str, str]) -> Iterator[Recorder]:
    """Run a recorder on a separate thread for the length of a block."""
    recorder = Recorder(directory, name_server, brokers)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="recorder", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(recorder.listen(), loop).result(timeout=10)
        yield recorder
    finally:
        asyncio.run_coroutine_threadsafe(recorder.close(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
