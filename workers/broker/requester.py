"""Carry requests to one peer over one connection and match its answers to them."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, cast

import structlog
from regent_engine import Command

from backend.remoting.connection import PeerConnection
from backend.remoting.errors import RemotingError
from workers.broker.settings import Address

CONNECT_TIMEOUT_S: Final = 3.0
ANSWER_TIMEOUT_S: Final = 3.0
PORT_MAX: Final = 65_535
PORT_DIGITS_MAX: Final = 5

log = structlog.get_logger()


def _ignore(_command: Command) -> None:
    """Leave a request of the peer's alone."""


class Requester(asyncio.Protocol):
    """One connection that we opened to ask; the peer's own requests go to `on_request`."""

    def __init__(
        self,
        peer_name: str,
        *,
        on_close: Callable[[], None],
        on_request: Callable[[Command], None] = _ignore,
    ) -> None:
        self._peer_name = peer_name
        self._peer = PeerConnection[asyncio.Future[Command]]()
        self._on_close, self._on_request = on_close, on_request
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether the peer can hear us now."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket over."""
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand answers to who waits for them."""
        try:
            self._peer.receive_data(data)
        except RemotingError as error:
            log.warning("peer_broke_protocol", peer=self._peer_name, reason=str(error))
            self.close()
            return
        for command in self._peer.commands():
            if not command.is_response:
                self._on_request(command)
                continue
            waiter = self._peer.take(command)
            if waiter is not None and not waiter.done():
                waiter.set_result(command)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody who waits that no answer will come."""
        self._transport = None
        for waiter in self._peer.abandon():
            if not waiter.done():
                waiter.set_exception(
                    exc or ConnectionResetError(f"the {self._peer_name} closed the connection")
                )
        self._on_close()

    async def call(self, code: int, *, ext: dict[str, str], body: bytes = b"") -> Command:
        """Ask and give the answer, whatever its code.

        Raises:
            OSError: the connection is gone.
            TimeoutError: no answer in time.
        """
        waiter: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._write(self._peer.request(code, waiter, ext=ext, body=body))
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            return await self._answer(waiter)

    async def pass_on(self, command: Command, ext: Mapping[str, str]) -> Command | None:
        """Ask what somebody else wants to know, with more fields; a one-way request has no answer.

        Raises:
            OSError: the connection is gone.
            RemotingError: too many requests are open already.
        """
        if command.is_oneway:
            self._write(self._peer.passed_on(command, None, ext))
            return None
        waiter: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._write(self._peer.passed_on(command, waiter, ext))
        return await self._answer(waiter)

    def notify(self, code: int, *, ext: dict[str, str]) -> None:
        """Send what nobody answers.

        Raises:
            OSError: the connection is gone.
        """
        self._write(self._peer.notice(code, ext=ext))

    def close(self) -> None:
        """Close the connection after what was written."""
        if self._transport is not None:
            self._transport.close()

    async def _answer(self, waiter: asyncio.Future[Command]) -> Command:
        try:
            return await waiter
        except BaseException:
            self._peer.forget(waiter)
            raise

    def _write(self, frame: bytes) -> None:
        if self._transport is None:
            raise ConnectionResetError(f"the {self._peer_name} closed the connection")
        self._transport.write(frame)


async def connect(
    host: str,
    port: int,
    *,
    peer_name: str,
    on_close: Callable[[], None],
    on_request: Callable[[Command], None] = _ignore,
) -> Requester:
    """Open a connection.

    Raises:
        OSError: nobody listens there.
        TimeoutError: nobody answers in time.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        _, requester = await loop.create_connection(
            lambda: Requester(peer_name, on_close=on_close, on_request=on_request), host, port
        )
    return requester


def split_address(address: str) -> Address:
    """Take `host:port` apart.

    Raises:
        OSError: it is no such text.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    is_port = port.isdecimal() and len(port) <= PORT_DIGITS_MAX and int(port) <= PORT_MAX
    if not (is_port and _is_host(host)):
        raise ConnectionError(f"the address {address!r} is not host:port")
    return host, int(port)


def _is_host(text: str) -> bool:
    """Tell whether a name can be looked up at all: else that is no `OSError`."""
    try:
        return bool(text.encode("idna")) and "\0" not in text
    except UnicodeError:
        return False
