"""Own one connection: turn bytes into commands, and answers into bytes.

Requests that need only memory are answered immediately and in order. A request that waits for the
database is a task of the server; the number of these tasks is bounded. A peer with many requests
takes turns with other peers. While a peer does not read its answers, its requests are not read. The
connection of a silent peer is closed. After a peer has left, the requests that it sent before are
still processed.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

import structlog
from regent_engine import Command, Decoder, ProtocolError

from backend.nameserver.directory import Directory
from backend.nameserver.dispatcher import dispatch, refuse
from backend.remoting.unread import read_unread

# The largest frames are registrations of brokers with tens of thousands of topics.
FRAME_SIZE_MAX: Final = 16 << 20
WRITE_BUFFER_MAX: Final = 1 << 20
WAITING_COUNT_MAX: Final = 64
TURN_S: Final = 0.01
"""The maximum time for the requests of one peer before the next peer has its turn."""

log = structlog.get_logger(__name__)


class NameServerSession(asyncio.Protocol):
    """Answer one peer, in order."""

    def __init__(
        self,
        directory: Directory,
        *,
        on_open: Callable[["NameServerSession"], bool],
        on_close: Callable[["NameServerSession"], None],
        start: Callable[[Coroutine[Any, Any, None]], bool],
        monotonic: Callable[[], float],
    ) -> None:
        self._directory = directory
        self._start = start
        # The arrival time of each request without an answer, the oldest first.
        self._owed_since_s: dict[object, float] = {}
        self._on_open, self._on_close, self._monotonic = on_open, on_close, monotonic
        self._decoder = Decoder(FRAME_SIZE_MAX)
        self._notices: list[bytes] = []
        self._unanswered: deque[Command] = deque()
        self._is_turn_due = self._is_unread = self._is_broken = False
        # This server closed the connection, or the peer did.
        self._is_ended = self._is_gone = False
        self._transport: asyncio.Transport | None = None
        self.active_at_s = monotonic()
        self.peer = ""
        # The local address that the peer has connected to.
        self.local_address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection, unless the server is full or is stopping."""
        # uvloop's transports have the methods, not the base class.
        transport = cast("asyncio.Transport", transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_BUFFER_MAX)
        self.peer = _address(transport.get_extra_info("peername"))
        self.local_address = _address(transport.get_extra_info("sockname"))
        if not self._on_open(self):
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Answer every complete request in the received bytes."""
        self._take_in(data)
        if not (self._is_turn_due or self._is_unread):
            self._take_turn()

    def _take_in(self, data: bytes) -> None:
        try:
            self._unanswered.extend(self._decoder.receive(data))
        except ProtocolError as error:
            log.warning("peer_broke_protocol", peer=self.peer, error=str(error))
            self._unanswered.extend(error.commands)
            self._is_broken = True

    def notify(self, frame: bytes) -> None:
        """Send a one-way request to the peer, together with the answers of this turn."""
        if not self._notices:
            asyncio.get_running_loop().call_soon(self._write, b"")
        self._notices.append(frame)

    def _take_turn(self) -> None:
        """Answer the waiting requests in order, until the time of this turn is used."""
        self._is_turn_due = False
        self.active_at_s = now = self._monotonic()
        answers, until = [], now + TURN_S
        while self._unanswered and now < until:
            command = self._unanswered.popleft()
            answered = dispatch(command, self, self._directory)
            if isinstance(answered, bytes):
                answers.append(answered)
            else:
                self._answer_later(command, answered)
            now = self._monotonic()
        self._write(b"".join(answers))
        if self._unanswered:
            self._rest()
        elif self._is_gone:
            self._on_close(self)
        elif self._is_broken:
            self.close()

    def _rest(self) -> None:
        """Stop reading until all requests are answered, or until the peer reads its answers."""
        if self._is_ended and not self._is_gone:
            self._unanswered.clear()
            return
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
        if not self._is_unread:
            self._is_turn_due = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        try:
            self._take_turn()
        except Exception:
            # The event loop does the same after an error in `data_received`.
            self.abort()
            raise
        self._read_on()

    def _read_on(self) -> None:
        transport, is_busy = self._transport, self._is_turn_due or self._is_unread
        if transport is not None and not is_busy and not transport.is_closing():
            transport.resume_reading()

    def _answer_later(self, command: Command, answered: Coroutine[Any, Any, bytes]) -> None:
        key = object()
        waiting = self._await_answer(answered, key)
        if len(self._owed_since_s) < WAITING_COUNT_MAX and self._start(waiting):
            self._owed_since_s[key] = self._monotonic()
            return
        waiting.close()
        answered.close()
        self._write(refuse(command, self._directory))

    async def _await_answer(self, answered: Coroutine[Any, Any, bytes], key: object) -> None:
        try:
            self._write(await answered)
        finally:
            self._owed_since_s.pop(key, None)

    @property
    def owes_for_s(self) -> float:
        """Return how long the peer has waited for its oldest answer, or 0."""
        oldest_s = next(iter(self._owed_since_s.values()), None)
        return 0.0 if oldest_s is None else self._monotonic() - oldest_s

    def _write(self, data: bytes) -> None:
        if self._notices:
            data = b"".join([*self._notices, data])
            self._notices.clear()
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def pause_writing(self) -> None:
        """Stop reading from a peer that does not read its answers."""
        self._is_unread = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Answer and read again."""
        self._is_unread = False
        if not (self._is_turn_due or self._is_gone):
            self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Process the requests that came before the end, then report the closed connection."""
        del exc
        transport, self._transport = self._transport, None
        # The peer reads no more answers, so no request waits for that.
        self._is_gone, self._is_unread = True, False
        if self._is_ended:
            self._unanswered.clear()
        elif transport is not None and not self._is_broken:
            # The transport closes the socket after this call.
            self._take_in(read_unread(transport.get_extra_info("socket").fileno()))
        if not self._is_turn_due:
            self._take_turn()

    def close(self) -> None:
        """Close after the written bytes are sent; closing twice is no error."""
        self._is_ended = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._is_ended = True
        if self._transport is not None:
            self._transport.abort()


def _address(name: object) -> str:
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else str(name)
