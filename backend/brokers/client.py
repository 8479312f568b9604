"""Carry requests to remoting peers: one connection an address, a deadline on every call.

Everything is bounded: connections, open requests on each, the size of a frame. A peer that breaks
the protocol loses its connection, and with it every call that waits there.
"""

import asyncio
import contextlib
from asyncio import Future, Transport
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Final, cast

from backend.brokers.errors import BrokerUnreachable
from backend.remoting.command import Command, answer
from backend.remoting.connection import PeerConnection
from backend.remoting.errors import LocalProtocolError, RemoteProtocolError
from backend.remoting.response_code import ResponseCode

DEADLINE: Final = timedelta(seconds=3)
CONNECTION_COUNT_MAX: Final = 512
IN_FLIGHT_COUNT_MAX: Final = 128
PORT_MAX: Final = 65_535

Waiter = Future[Command]


class RemotingClient:
    """Keep connections to peers and match answers to requests.

    Belongs to one event loop. When another connection would be one too many, the one that was
    used longest ago and has no open request makes room.
    """

    def __init__(
        self,
        *,
        deadline: timedelta = DEADLINE,
        connection_count_max: int = CONNECTION_COUNT_MAX,
        in_flight_count_max: int = IN_FLIGHT_COUNT_MAX,
    ) -> None:
        self._deadline_s = deadline.total_seconds()
        self._connection_count_max = connection_count_max
        self._in_flight_count_max = in_flight_count_max
        # In order of last use.
        self._peers: dict[str, _Peer] = {}
        self._locks: dict[str, _AddressLock] = {}

    async def request(
        self,
        address: str,
        code: int,
        *,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Command:
        """Send a request and return its answer, whatever its code.

        Raises:
            BrokerUnreachable: no connection, no answer before the deadline, or too many
                requests are open.
        """
        deadline = asyncio.get_running_loop().time() + self._deadline_s
        try:
            peer = self._open_peer(address)
            if peer is None:
                async with asyncio.timeout_at(deadline):
                    peer = await self._connect(address)
            return await peer.request(code, ext=ext, body=body, deadline=deadline)
        except TimeoutError as error:
            reason = f"no answer within {self._deadline_s:g} s"
            raise BrokerUnreachable(address, reason) from error
        except (OSError, UnicodeError, RemoteProtocolError, LocalProtocolError) as error:
            # A host name that can't be encoded is a UnicodeError.
            raise BrokerUnreachable(address, str(error) or type(error).__name__) from error

    async def notify(
        self,
        address: str,
        code: int,
        *,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        """Send a one-way request, which nobody answers.

        Raises:
            BrokerUnreachable: there is no connection before the deadline.
        """
        try:
            async with asyncio.timeout(self._deadline_s):
                peer = self._open_peer(address) or await self._connect(address)
            peer.notify(code, ext=ext, body=body)
        except TimeoutError as error:
            reason = f"no connection within {self._deadline_s:g} s"
            raise BrokerUnreachable(address, reason) from error
        except (OSError, UnicodeError, RemoteProtocolError, LocalProtocolError) as error:
            raise BrokerUnreachable(address, str(error) or type(error).__name__) from error

    async def aclose(self) -> None:
        """Close every connection; calls that still wait end as unreachable."""
        peers, self._peers = self._peers, {}
        for peer in peers.values():
            peer.close()
        # The transports report their end in the loop's next turn.
        await asyncio.sleep(0)

    def _open_peer(self, address: str) -> "_Peer | None":
        """Return the connection to an address, as the last one used, if there is one."""
        peer = self._peers.pop(address, None)
        if peer is None or peer.is_closed:
            return None
        self._peers[address] = peer
        return peer

    async def _connect(self, address: str) -> "_Peer":
        async with self._locked(address):
            # Somebody else may have connected while this one waited for the lock.
            peer = self._open_peer(address)
            if peer is None:
                self._make_room()
                host, port = _split(address)
                loop = asyncio.get_running_loop()
                _, peer = await loop.create_connection(
                    lambda: _Peer(self._in_flight_count_max), host, port
                )
                self._peers[address] = peer
            return peer

    @contextlib.asynccontextmanager
    async def _locked(self, address: str) -> AsyncIterator[None]:
        # Two callers of one address share one connection; the lock lives as long as its users.
        entry = self._locks.setdefault(address, _AddressLock())
        entry.user_count += 1
        try:
            async with entry.lock:
                yield
        finally:
            entry.user_count -= 1
            if not entry.user_count:
                del self._locks[address]

    def _make_room(self) -> None:
        for address in [address for address, peer in self._peers.items() if peer.is_closed]:
            del self._peers[address]
        if len(self._peers) < self._connection_count_max:
            return
        for address, peer in self._peers.items():
            if peer.is_idle:
                peer.close()
                del self._peers[address]
                return
        raise LocalProtocolError(f"all {self._connection_count_max} connections are in use")


class _AddressLock:
    """Serialize the opening of one address's connection."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.user_count = 0


class _Peer(asyncio.Protocol):
    """Join one socket to its sans-I/O connection."""

    def __init__(self, in_flight_count_max: int) -> None:
        self._connection: PeerConnection[Waiter] = PeerConnection(
            pending_count_max=in_flight_count_max
        )
        self._transport: Transport | None = None
        self._open_count = 0
        self.is_closed = False

    @property
    def is_idle(self) -> bool:
        return not self._open_count

    async def request(
        self, code: int, *, ext: Mapping[str, str] | None, body: bytes, deadline: float
    ) -> Command:
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        if self._transport is None or self.is_closed:
            raise ConnectionResetError("the connection is closed")
        frame = self._connection.request(code, waiter, ext=ext, body=body)
        self._open_count += 1
        # Cheaper than `asyncio.timeout`, which counts where hundreds of brokers are asked at once.
        timer = loop.call_at(deadline, _expire, waiter)
        try:
            self._transport.write(frame)
            return await waiter
        finally:
            timer.cancel()
            self._open_count -= 1
            self._connection.forget(waiter)

    def notify(self, code: int, *, ext: Mapping[str, str] | None, body: bytes) -> None:
        if self._transport is None or self.is_closed:
            raise ConnectionResetError("the connection is closed")
        self._transport.write(self._connection.notice(code, ext=ext, body=body))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        self._abandon(ConnectionResetError("the connection was closed by us"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("Transport", transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._connection.receive_data(data)
        except RemoteProtocolError as error:
            self._deliver()
            self._abandon(error)
            if self._transport is not None:
                self._transport.abort()
        else:
            self._deliver()

    def connection_lost(self, exc: Exception | None) -> None:
        self._abandon(exc or ConnectionResetError("the peer closed the connection"))

    def _deliver(self) -> None:
        for command in self._connection.commands():
            if not command.is_response:
                self._decline(command)
                continue
            waiter = self._connection.take(command)
            if waiter is not None and not waiter.done():
                waiter.set_result(command)

    def _decline(self, command: Command) -> None:
        """Answer a request of the peer's: over this connection we only ask."""
        if self._transport is None or command.is_oneway:
            return
        remark = f"request type {command.code} not supported"
        self._transport.write(
            answer(command, code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
        )

    def _abandon(self, error: Exception) -> None:
        self.is_closed = True
        for waiter in self._connection.abandon():
            if not waiter.done():
                waiter.set_exception(error)


def _expire(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > PORT_MAX:
        raise LocalProtocolError("the address is not host:port")
    return host.strip("[]"), int(port)
