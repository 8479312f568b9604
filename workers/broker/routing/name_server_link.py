"""Keep one name server informed: register, send heartbeats, register again after any break.

A link owns one connection at a time. It sends a full registration after each connect and in the
period of RocketMQ. In between it registers each changed topic separately, and sends the one-way
heartbeat (remoting.md 2.7).
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup
from backend.remoting.errors import RemotingError
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.requester import Requester, connect
from backend.rules.broker import MASTER_ID
from workers.broker.routing.registration import Registration, RegistrationSource

BACK_OFF_FIRST_S: Final = 0.1
BACK_OFF_MAX_S: Final = 1.0
MASTER_POLL_S: Final = 0.002
OUTDATED_FIELD: Final = "lqHint"
"""Ours: names the static topics for which another broker group has a newer mapping."""

log = structlog.get_logger()


class RegistrationRefused(RemotingError):
    """A name server answered a registration with an error."""


class NameServerLink:
    """The connection to one name server."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        registration_source: RegistrationSource,
        released: asyncio.Event,
        on_registered: Callable[[], None],
        on_outdated: Callable[[], None],
    ) -> None:
        """Register once the event is set; until then, the connection carries questions only."""
        self.address = f"{host}:{port}"
        self._host, self._port, self._released = host, port, released
        self._registration_source, self._on_registered = registration_source, on_registered
        self._on_outdated = on_outdated
        self._event = asyncio.Event()
        self._socket: Requester | None = None
        self._is_down = False
        self.registered_counter = -1

    @property
    def is_connected(self) -> bool:
        """Return whether the connection to the name server is open."""
        return self._socket is not None and self._socket.is_open

    def poke(self) -> None:
        """Register changed topics immediately."""
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
        """Unregister, so that clients leave immediately; a dead name server is no obstacle."""
        if self._socket is None or not self._socket.is_open:
            return
        try:
            await self._socket.call(
                RequestCode.UNREGISTER_BROKER, ext=self._registration_source.unregistration()
            )
        except (OSError, TimeoutError, RemotingError) as error:
            log.warning("unregistration_failed", name_server=self.address, reason=str(error))

    async def ask(self, code: int, ext: dict[str, str], body: bytes = b"") -> Command | None:
        """Return the answer to a request; None while there is no connection.

        Raises:
            OSError: the connection is lost. TimeoutError: no answer in time.
        """
        socket = self._socket
        if socket is None or not socket.is_open:
            return None
        try:
            return await socket.call(code, ext=ext, body=body)
        except TimeoutError:
            if not self._released.is_set():
                # A registration would show that the connection is dead, and none is sent yet.
                socket.close()
            raise

    async def await_other_master(self) -> None:
        """Wait until routes name another master, unless the name server is lost."""
        with contextlib.suppress(OSError, TimeoutError, RemotingError, InvalidJson):
            while self._socket is not None and self._socket.is_open:
                answer = await self._socket.call(
                    RequestCode.GET_BROKER_MEMBER_GROUP, ext=self._registration_source.membership()
                )
                if answer.code != ResponseCode.SUCCESS:
                    return
                members = java_json.decode(answer.body, BrokerMemberGroup).members
                if members.addresses.get(MASTER_ID) not in {
                    None,
                    self._registration_source.address,
                }:
                    return
                await asyncio.sleep(MASTER_POLL_S)

    async def _stay(self) -> None:
        place = (self._host, self._port)
        socket = await connect(place, peer_name="name server", on_close=self._event.set)
        self._socket = socket
        try:
            await self._await_release(socket)
            while socket.is_open:
                await self._register(socket)
                await self._show_life(socket)
            raise ConnectionResetError("the name server closed the connection")
        finally:
            socket.close()

    async def _await_release(self, socket: Requester) -> None:
        while socket.is_open and not self._released.is_set():
            self._event.clear()
            await self._event.wait()

    async def _register(self, socket: Requester) -> None:
        self._event.clear()
        registration = self._registration_source.registration()
        await self._send_registration(socket, registration)
        if self.registered_counter < 0:
            log.info("broker_registered", name_server=self.address)
            self._is_down = False
        self.registered_counter = registration.counter
        self._on_registered()

    async def _register_changes(self, socket: Requester) -> bool:
        """Register changed topics; return False if a full registration is needed or impossible."""
        self._event.clear()
        counter = self._registration_source.counter
        changes = self._registration_source.changes(self.registered_counter)
        if changes is None or not socket.is_open:
            return False
        for registration in changes:
            await self._send_registration(socket, registration)
        self.registered_counter = counter
        self._on_registered()
        return True

    async def _send_registration(self, socket: Requester, registration: Registration) -> None:
        answer = await socket.call(
            RequestCode.REGISTER_BROKER, ext=registration.ext, body=registration.body
        )
        if answer.code != ResponseCode.SUCCESS:
            raise RegistrationRefused(f"code {answer.code}: {answer.remark}")
        if OUTDATED_FIELD in answer.ext:
            self._on_outdated()

    async def _show_life(self, socket: Requester) -> None:
        """Send heartbeats, and what changes, until all topics are to be registered or can't be."""
        loop = asyncio.get_running_loop()
        due_at = loop.time() + self._registration_source.register_interval_s
        while loop.time() < due_at:
            if self._event.is_set() and not await self._register_changes(socket):
                return
            code, ext, body = self._registration_source.heartbeat()
            socket.notify(code, ext=ext, body=body)
            try:
                async with asyncio.timeout(self._registration_source.heartbeat_interval_s):
                    await self._event.wait()
            except TimeoutError:
                continue

    def _note_down(self, error: Exception) -> None:
        if not self._is_down:
            reason = str(error) or type(error).__name__
            log.warning("name_server_lost", name_server=self.address, reason=reason)
        self._is_down = True
