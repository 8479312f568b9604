"""Forward every connection of a group, and drop the data that a partition would drop.

Each node listens on one loopback address. The others know it under another one, with the same port,
where this proxy listens. The kernel identifies the client: the process that owns the other end.

A link goes from one node to another, in any direction of the connection. A cut link holds back its
data and the end of a connection, and delivers them when it heals. A network whose packets were lost
and sent again does the same. A connection is opened only while both directions pass.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

CHUNK_BYTES: Final = 1 << 16

Link = tuple[str, str]


@dataclass(eq=False, slots=True)
class _Carried:
    """One forwarded connection."""

    source: str
    target: str
    task: asyncio.Task[None]

    @property
    def ends(self) -> frozenset[str]:
        return frozenset({self.source, self.target})


class Network:
    """The links between named nodes."""

    def __init__(
        self, owner_of: Callable[[str, int], str | None], *, real: str, proxy: str
    ) -> None:
        """Identify nodes by `owner_of`, which returns the owner of a host and port, if any."""
        self._owner_of, self._real, self._proxy = owner_of, real, proxy
        self._passing: dict[Link, asyncio.Event] = {}
        self._carried: set[_Carried] = set()
        self._servers: list[asyncio.Server] = []

    async def expose(self, name: str, port: int) -> None:
        """Let others reach a node under the proxy's host.

        Raises:
            OSError: the port is in use.
        """

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._carry(name, port, reader, writer)

        self._servers.append(await asyncio.start_server(carry, self._proxy, port))

    def cut(self, sources: Iterable[str], targets: Iterable[str]) -> None:
        """Block all data from some nodes to others; the other direction is not affected."""
        for source in sources:
            for target in targets:
                self._gate((source, target)).clear()

    def heal(self, *, resets: bool = False) -> None:
        """Unblock all links; if wanted, connections over cut links break first."""
        cut = {frozenset(link) for link, gate in self._passing.items() if not gate.is_set()}
        if resets:
            for carried in self._carried:
                if carried.ends in cut:
                    carried.task.cancel()
        for gate in self._passing.values():
            gate.set()

    def drop(self, name: str) -> None:
        """Break every connection of a node, and drop its data in transit."""
        for carried in self._carried:
            if name in carried.ends:
                carried.task.cancel()

    async def close(self) -> None:
        """Stop forwarding."""
        for server in self._servers:
            server.close()
        tasks = [carried.task for carried in self._carried]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _gate(self, link: Link) -> asyncio.Event:
        gate = self._passing.get(link)
        if gate is None:
            gate = self._passing[link] = asyncio.Event()
            gate.set()
        return gate

    async def _carry(
        self, target: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        source = self._owner_of(*writer.get_extra_info("peername")[:2])
        task = asyncio.current_task()
        if source is None or task is None:
            writer.transport.abort()
            return
        carried = _Carried(source, target, task)
        self._carried.add(carried)
        outward: asyncio.StreamWriter | None = None
        try:
            there, back = self._gate((source, target)), self._gate((target, source))
            while not (there.is_set() and back.is_set()):
                await there.wait()
                await back.wait()
            # Brokers without a controller recognize one another by their hosts.
            inward, outward = await asyncio.open_connection(
                self._real, port, local_addr=(self._proxy, 0)
            )
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(_pump(reader, outward, there))
                pumps.create_task(_pump(inward, writer, back))
        except* OSError:
            pass
        except* asyncio.CancelledError:
            pass
        finally:
            self._carried.discard(carried)
            for end in (writer, outward):
                if end is not None:
                    end.transport.abort()


class _Ended(ConnectionError):
    """One side has closed: close the other."""


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gate: asyncio.Event
) -> None:
    """Carry one direction."""
    broken = False
    while not broken:
        await gate.wait()
        try:
            data = await reader.read(CHUNK_BYTES)
        except OSError:
            data = b""
        broken = not data
        # The link may have been cut while no data came.
        await gate.wait()
        if data and not writer.is_closing():
            # A node that is gone unnoticed takes nothing; its own end shows that.
            with contextlib.suppress(OSError):
                writer.write(data)
                await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()
        await writer.wait_closed()
    raise _Ended
