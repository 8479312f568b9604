"""Carry requests to one peer over one connection and match its answers to them.

It is the one shell around the protocol core for those who ask: the control plane asks brokers with
it, a broker agent asks name servers, controllers and its master.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, cast

import structlog
from regent_engine import Command

from backend.remoting.address import Address
from backend.remoting.command import answer
from backend.remoting.connection import PENDING_COUNT_MAX, PeerConnection
from backend.remoting.errors import RemoteProtocolError
from backend.remoting.response_code import ResponseCode

CONNECT_TIMEOUT_S: Final = 3.0
ANSWER_TIMEOUT_S: Final = 3.0

Waiter = asyncio.Future[Command]

log = structlog.get_logger()


class Requester(asyncio.Protocol):
    """One connection that we opened to ask.

    The peer's own requests go to `on_request`; without it they are declined.
    """

    def __init__(
        self,
        peer_name: str,
        *,
        on_close: Callable[[], None] | None = None,
        on_request: Callable[[Command], None] | None = None,
        in_flight_count_max: int = PENDING_COUNT_MAX,
    ) -> None:
        self._peer_name = peer_name
        self._peer = PeerConnection[Waiter](pending_count_max=in_flight_count_max)
        self._on_close, self._on_request = on_close, on_request or self._decline
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the peer can hear us now."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_idle(self) -> bool:
        """Return whether no request waits for its answer."""
        return not self._peer.pending_count

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket over."""
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand answers to who waits for them; a peer that breaks the protocol is left."""
        try:
            self._peer.receive_data(data)
        except RemoteProtocolError as error:
            log.warning("peer_broke_protocol", peer=self._peer_name, reason=str(error))
            self._deliver()
            self._abandon(error)
            if self._transport is not None:
                self._transport.abort()
        else:
            self._deliver()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail every request that waits: no answer will come."""
        self._transport = None
        self._abandon(exc or ConnectionResetError(f"the {self._peer_name} closed the connection"))
        if self._on_close is not None:
            self._on_close()

    async def call(
        self,
        code: int,
        *,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
        deadline: float | None = None,
    ) -> Command:
        """Ask and give the answer, whatever its code; without a deadline, in three seconds.

        Raises:
            OSError: the connection is gone.
            RemotingError: too many requests are open already, or the peer broke the protocol.
            TimeoutError: no answer in time.
        """
        loop = asyncio.get_running_loop()
        waiter: Waiter = loop.create_future()
        transport = self._writable()
        transport.write(self._peer.request(code, waiter, ext=ext, body=body))
        # Cheaper than `asyncio.timeout`, which counts where hundreds of brokers are asked at once.
        ends_at = loop.time() + ANSWER_TIMEOUT_S if deadline is None else deadline
        timer = loop.call_at(ends_at, _expire, waiter)
        try:
            return await self._answer(waiter)
        finally:
            timer.cancel()

    async def pass_on(
        self, command: Command, ext: Mapping[str, str], body: bytes | None = None
    ) -> Command | None:
        """Pass on the request of another peer, with more fields, and perhaps with another body.

        A one-way request has no answer.

        Raises:
            OSError: the connection is gone.
            RemotingError: too many requests are open already, or the peer broke the protocol.
        """
        transport = self._writable()
        if command.is_oneway:
            transport.write(self._peer.passed_on(command, None, ext, body))
            return None
        waiter: Waiter = asyncio.get_running_loop().create_future()
        transport.write(self._peer.passed_on(command, waiter, ext, body))
        return await self._answer(waiter)

    def notify(self, code: int, *, ext: Mapping[str, str] | None = None, body: bytes = b"") -> None:
        """Send a one-way request, which is not answered.

        Raises:
            OSError: the connection is gone.
        """
        self._writable().write(self._peer.notice(code, ext=ext, body=body))

    def close(self) -> None:
        """Close the connection after what was written; requests that wait fail."""
        if self._transport is not None:
            self._transport.close()
        self._abandon(ConnectionResetError("the connection was closed by us"))

    def _writable(self) -> asyncio.Transport:
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError(f"the connection to the {self._peer_name} is closed")
        return self._transport

    async def _answer(self, waiter: Waiter) -> Command:
        try:
            return await waiter
        except BaseException:
            self._peer.forget(waiter)
            raise

    def _deliver(self) -> None:
        for command in self._peer.commands():
            if not command.is_response:
                self._on_request(command)
                continue
            waiter = self._peer.take(command)
            if waiter is not None and not waiter.done():
                waiter.set_result(command)

    def _decline(self, command: Command) -> None:
        if command.is_oneway or not self.is_open:
            return
        remark = f"request type {command.code} not supported"
        self._writable().write(
            answer(command, code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
        )

    def _abandon(self, error: Exception) -> None:
        for waiter in self._peer.abandon():
            if not waiter.done():
                waiter.set_exception(error)


async def connect(
    address: Address,
    *,
    peer_name: str,
    on_close: Callable[[], None] | None = None,
    on_request: Callable[[Command], None] | None = None,
    in_flight_count_max: int = PENDING_COUNT_MAX,
    timeout_s: float | None = CONNECT_TIMEOUT_S,
) -> Requester:
    """Open a connection.

    Raises:
        OSError: no peer listens there.
        TimeoutError: it does not answer in time.
    """
    host, port = address
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(timeout_s):
        _, requester = await loop.create_connection(
            lambda: Requester(
                peer_name,
                on_close=on_close,
                on_request=on_request,
                in_flight_count_max=in_flight_count_max,
            ),
            host,
            port,
        )
    return requester


def _expire(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())
