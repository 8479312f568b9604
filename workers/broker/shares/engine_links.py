"""Connect the engine to other members of the broker group, to which it forwards requests (ADR 27).

The engine asks for a connection once it has a request for a member. Without one, or without an
answer, the dispatcher serves the request: it waits for owners, and for the next master.
"""

import asyncio
import socket
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

import structlog
from regent_engine import Clients

from backend.remoting.address import split_address
from backend.requester import CONNECT_TIMEOUT_S
from backend.rules.broker import MASTER_ID

if TYPE_CHECKING:
    from workers.broker.broker import Broker

PAUSE_S: Final = 0.2
"""A member whose connection failed is left alone for this time."""

log = structlog.get_logger()


class EngineLinks:
    """The connections that the engine has to members; belongs to the loop's thread.

    A member has its broker id. The sequencer has the id 0.
    """

    def __init__(self, broker: "Broker") -> None:
        """Take the broker; nothing is forwarded before `serve_by`."""
        self._broker = broker
        self._clients: Clients | None = None
        self._sequencer: str | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._lent: set[int] = set()
        self._is_closed = False

    def serve_by(self, clients: Clients) -> None:
        """Take the clients of the engine, whose requests it forwards."""
        self._clients = clients

    def follow(self, address: str | None) -> None:
        """Pass requests on to a master at an address; while it is None, the dispatcher does."""
        if address != self._sequencer:
            self._sequencer = address
            self.retire(MASTER_ID)

    def retire(self, member_id: int) -> None:
        """Use no connection to a member any more; the engine asks for the next one."""
        task = self._tasks.pop(member_id, None)
        if task is not None:
            task.cancel()
        if task is not None or member_id in self._lent:
            self._allow(member_id)

    def want(self, member_id: int) -> None:
        """Connect to a member."""
        self._begin(member_id, self._connect(member_id))

    def lost(self, member_id: int, reason: str) -> None:
        """Let the engine ask for another connection to a member, after a moment."""
        log.info("member_link_lost", member_id=member_id, reason=reason)
        self._lent.discard(member_id)
        self._broker.shared_pops.links.forget_addresses()
        self._begin(member_id, self._pause(member_id))

    def close(self) -> None:
        """Forward nothing from now on; requests under way are still answered."""
        self._is_closed = True
        for member_id in {*self._tasks, *self._lent}:
            self.retire(member_id)

    def _begin(self, member_id: int, work: Coroutine[Any, Any, None]) -> None:
        if self._is_closed or member_id in self._tasks:
            work.close()
            return
        task = self._tasks[member_id] = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda task: self._done(member_id, task))

    def _done(self, member_id: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(member_id) is task:
            del self._tasks[member_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("member_not_connected", exc_info=error)

    async def _connect(self, member_id: int) -> None:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                address = await self._address_of(member_id)
                with await _open(address) as connected:
                    self._lend(member_id, connected)
        except OSError as error:
            log.info("member_not_connected", member_id=member_id, reason=str(error))
            await self._pause(member_id)

    def _lend(self, member_id: int, connected: socket.socket) -> None:
        if self._clients is not None:
            self._lent.add(member_id)
            # The engine has its own descriptor of it.
            self._clients.use_link(member_id, connected.fileno())

    async def _pause(self, member_id: int) -> None:
        await asyncio.sleep(PAUSE_S)
        # The engine may ask again at once.
        self._tasks.pop(member_id, None)
        self._allow(member_id)

    def _allow(self, member_id: int) -> None:
        self._lent.discard(member_id)
        if self._clients is not None:
            self._clients.retire_link(member_id)

    async def _address_of(self, member_id: int) -> str:
        if member_id != MASTER_ID:
            return (await self._broker.shared_pops.links.find(member_id)).address
        if self._sequencer is None or not self._broker.settings.passes_on:
            raise ConnectionError("requests are not passed on now")
        return self._sequencer


async def _open(address: str) -> socket.socket:
    """Open a connection that does not wait.

    Raises:
        OSError: no peer listens there.
    """
    loop = asyncio.get_running_loop()
    host, port = split_address(address)
    (family, kind, protocol, _, place), *_ = await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    )
    opened = socket.socket(family, kind, protocol)
    try:
        opened.settimeout(0)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_connect(opened, place)
    except BaseException:
        opened.close()
        raise
    return opened
