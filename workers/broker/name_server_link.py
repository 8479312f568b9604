"""Keep one name server informed: register, show life, register again after any break.

A link owns one connection at a time. It registers in full when connected, when topics change and
on the stock period, and sends the light one-way heartbeat in between (remoting.md 2.7).
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

import structlog
from regent_engine import Command

from backend.remoting.connection import PeerConnection
from backend.remoting.errors import RemotingError
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.registration import Registrant

CONNECT_TIMEOUT_S: Final = 3.0
ANSWER_TIMEOUT_S: Final = 3.0
BACK_OFF_FIRST_S: Final = 0.1
BACK_OFF_MAX_S: Final = 1.0

log = structlog.get_logger()


class RegistrationRefused(RemotingError):  # noqa: N818 - named for what it says
    """A name server answered a registration with an error."""


class _Socket(asyncio.Protocol):
    """Carries requests to the name server and resolves their answers."""

    def __init__(self, on_close: Callable[[], None]) -> None:
        self._peer = PeerConnection[asyncio.Future[Command]]()
        self._on_close = on_close
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, not the base class.
        transport = cast("asyncio.Transport", transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            self._peer.receive_data(data)
        except RemotingError as error:
            log.warning("name_server_broke_protocol", reason=str(error))
            self.close()
            return
        for command in self._peer.commands():
            # A name server's own requests (905 and the like) are not for a lone master.
            waiter = self._peer.take(command) if command.is_response else None
            if waiter is not None and not waiter.done():
                waiter.set_result(command)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for waiter in self._peer.abandon():
            if not waiter.done():
                waiter.set_exception(exc or ConnectionResetError("the name server hung up"))
        self._on_close()

    async def call(self, code: int, *, ext: dict[str, str], body: bytes = b"") -> Command:
        waiter: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._write(self._peer.request(code, waiter, ext=ext, body=body))
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await waiter
        finally:
            self._peer.forget(waiter)

    def notify(self, code: int, *, ext: dict[str, str]) -> None:
        self._write(self._peer.notice(code, ext=ext))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _write(self, frame: bytes) -> None:
        if self._transport is None:
            raise ConnectionResetError("the name server hung up")
        self._transport.write(frame)


class NameServerLink:
    """The standing connection to one name server."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        registrant: Registrant,
        on_registered: Callable[[], None],
    ) -> None:
        self.address = f"{host}:{port}"
        self._host, self._port = host, port
        self._registrant, self._on_registered = registrant, on_registered
        self._event = asyncio.Event()
        self._socket: _Socket | None = None
        self._is_down = False
        self.registered_counter = -1

    @property
    def is_connected(self) -> bool:
        """Tell whether the name server can hear us now."""
        return self._socket is not None and self._socket.is_open

    def poke(self) -> None:
        """Register at once because topics have changed."""
        self._event.set()

    async def run(self) -> None:
        """Stay connected and registered until cancelled."""
        back_off_s = BACK_OFF_FIRST_S
        while True:
            try:
                await self._stay()
            except (OSError, TimeoutError, RemotingError) as error:
                self._note_down(error)
            if self.registered_counter >= 0:
                back_off_s = BACK_OFF_FIRST_S
            self.registered_counter = -1
            self._on_registered()
            await asyncio.sleep(back_off_s)
            back_off_s = min(back_off_s * 2, BACK_OFF_MAX_S)

    async def unregister(self) -> None:
        """Say goodbye, so that clients stop coming at once; a dead name server is no obstacle."""
        if self._socket is None or not self._socket.is_open:
            return
        try:
            await self._socket.call(
                RequestCode.UNREGISTER_BROKER, ext=self._registrant.unregistration()
            )
        except (OSError, TimeoutError, RemotingError) as error:
            log.warning("unregistration_failed", name_server=self.address, reason=str(error))

    async def _stay(self) -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            _, socket = await loop.create_connection(
                lambda: _Socket(self._event.set), self._host, self._port
            )
        self._socket = socket
        try:
            while socket.is_open:
                await self._register(socket)
                await self._show_life(socket)
            raise ConnectionResetError("the name server hung up")
        finally:
            socket.close()

    async def _register(self, socket: _Socket) -> None:
        self._event.clear()
        registration = self._registrant.registration()
        answer = await socket.call(
            RequestCode.REGISTER_BROKER, ext=registration.ext, body=registration.body
        )
        if answer.code != ResponseCode.SUCCESS:
            raise RegistrationRefused(f"code {answer.code}: {answer.remark}")
        if self.registered_counter < 0:
            log.info("broker_registered", name_server=self.address)
            self._is_down = False
        self.registered_counter = registration.counter
        self._on_registered()

    async def _show_life(self, socket: _Socket) -> None:
        """Send heartbeats until the next registration is due, wanted or impossible."""
        loop = asyncio.get_running_loop()
        due_at = loop.time() + self._registrant.register_interval_s
        while loop.time() < due_at and not self._event.is_set():
            socket.notify(RequestCode.BROKER_HEARTBEAT, ext=self._registrant.heartbeat())
            try:
                async with asyncio.timeout(self._registrant.heartbeat_interval_s):
                    await self._event.wait()
            except TimeoutError:
                continue

    def _note_down(self, error: Exception) -> None:
        if not self._is_down:
            reason = str(error) or type(error).__name__
            log.warning("name_server_lost", name_server=self.address, reason=reason)
        self._is_down = True
