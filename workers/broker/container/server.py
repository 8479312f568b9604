"""Listen for tools at the port of a container, and run its brokers.

A connection may have several requests at a time: a tool asks for the list of brokers while a broker
is being added, which takes as long as the recovery of its store.
"""

import asyncio
import socket
from typing import Final

import structlog
from regent_engine import Command, Decoder, ProtocolError

from workers.broker.configuration.config_file import ConfigFile
from workers.broker.container.container import Container
from workers.broker.container.processors import serve
from workers.broker.container.settings import LoadedContainer
from workers.broker.listening import BACKLOG, bind

FRAME_SIZE_MAX: Final = 1 << 20
CHUNK_BYTES: Final = 64 << 10
CONNECTION_COUNT_MAX: Final = 256
IDLE_S_MAX: Final = 120.0
REQUEST_COUNT_MAX: Final = 16
"""With more open requests, a connection is not read."""

log = structlog.get_logger()


class ContainerServer:
    """One container in this process."""

    def __init__(self, loaded: LoadedContainer, file: ConfigFile) -> None:
        """Bind the ports.

        Raises:
            PortInUse: another process listens already.
        """
        settings = loaded.settings
        self._sockets = bind(settings.bind_address, settings.listen_port)
        self.port: int = self._sockets[0].getsockname()[1]
        address = f"{settings.advertised_ip}:{self.port}"
        self.container = Container(loaded, file, address=address)
        self._servers: list[asyncio.Server] = []
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._is_closed = False
        self.failed = asyncio.Event()

    async def start(self) -> None:
        """Run the brokers of the list, then serve tools."""
        await self.container.start()
        for listener in self._sockets:
            self._servers.append(await self._listen(listener))
        log.info("container_started", address=self.container.address)

    async def close(self) -> None:
        """Stop cleanly; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        for server in self._servers:
            server.close()
        # The answer about a broker that is being added is written first.
        if not await self.container.close():
            self.failed.set()
        for writer in self._connections.values():
            # What is read ends then, and so does the connection.
            writer.close()
        await asyncio.gather(*self._connections, return_exceptions=True)
        for listener in self._sockets:
            listener.close()
        log.info("container_stopped", outcome="unclean" if self.failed.is_set() else "clean")

    async def _listen(self, listener: socket.socket) -> asyncio.Server:
        return await asyncio.start_server(self._accept, sock=listener, backlog=BACKLOG)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection is a task"
        if self._is_closed or len(self._connections) >= CONNECTION_COUNT_MAX:
            writer.close()
            return
        self._connections[task] = writer
        try:
            await self._serve(reader, writer)
        except (OSError, TimeoutError, ProtocolError) as error:
            log.info("tool_lost", reason=str(error) or "it was idle for too long")
        finally:
            del self._connections[task]
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        decoder, places = Decoder(FRAME_SIZE_MAX), asyncio.Semaphore(REQUEST_COUNT_MAX)
        requests: set[asyncio.Task[None]] = set()
        try:
            while True:
                async with asyncio.timeout(IDLE_S_MAX):
                    data = await reader.read(CHUNK_BYTES)
                if not data:
                    return
                for command in decoder.receive(data):
                    if command.is_response:
                        continue
                    await places.acquire()
                    request = asyncio.create_task(self._answer(command, writer, places))
                    requests.add(request)
                    request.add_done_callback(requests.discard)
        finally:
            # A broker that is being added or removed is not left halfway.
            await asyncio.gather(*requests)

    async def _answer(
        self, command: Command, writer: asyncio.StreamWriter, places: asyncio.Semaphore
    ) -> None:
        try:
            reply = await serve(self.container, command)
            if not command.is_oneway:
                async with asyncio.timeout(IDLE_S_MAX):
                    writer.write(reply)
                    await writer.drain()
        except (OSError, TimeoutError) as error:
            log.info("tool_lost", reason=str(error) or "it does not read its answers")
            # Its end is read then.
            writer.close()
        finally:
            places.release()
