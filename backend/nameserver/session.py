"""Own one connection to the control plane: bytes to commands, answers to bytes.

What is answered from memory is answered at once and in order; what waits for the database is a task
of the server's, bounded in number, and its answer leaves when it is there. A peer that asks much
at once takes turns with the others. One that does not read its answers is neither answered nor read
from until it does, and one that is silent for too long is closed. One that has left gets no
answers, but all that it sent before counts.
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

# Registrations of brokers with ten thousands of topics are the largest frames we are sent.
FRAME_SIZE_MAX: Final = 16 << 20
WRITE_BUFFER_MAX: Final = 1 << 20
WAITING_COUNT_MAX: Final = 64
TURN_S: Final = 0.01
"""For so long one peer is answered before others have their turn."""

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
        # When each request came that waits for its answer, the oldest first.
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
        # Under which address the peer reached us.
        self.local_address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless the server is full or about to stop."""
        # uvloop's transports have the methods, not the base class.
        transport = cast("asyncio.Transport", transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_BUFFER_MAX)
        self.peer = _address(transport.get_extra_info("peername"))
        self.local_address = _address(transport.get_extra_info("sockname"))
        if not self._on_open(self):
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Answer every whole request of what has arrived."""
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
        """Send the peer a one-way request, with an answer if one is written in this turn."""
        if not self._notices:
            asyncio.get_running_loop().call_soon(self._write, b"")
        self._notices.append(frame)

    def _take_turn(self) -> None:
        """Answer what waits, in order; what takes too long waits for the next turn."""
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
        """Read nothing more until all is answered; a peer that has to read first goes on then."""
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
            # As the loop does when a fault comes out of `data_received`.
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
        """Say for how long the peer has waited for its oldest answer; 0 if for none."""
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
        """Go on answering, and reading."""
        self._is_unread = False
        if not (self._is_turn_due or self._is_gone):
            self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Serve what the peer sent before it left, and say that the connection is gone."""
        del exc
        transport, self._transport = self._transport, None
        # It reads no answers any more, so that none of its requests waits for that.
        self._is_gone, self._is_unread = True, False
        if self._is_ended:
            self._unanswered.clear()
        elif transport is not None and not self._is_broken:
            # The transport closes the socket after this call.
            self._take_in(read_unread(transport.get_extra_info("socket").fileno()))
        if not self._is_turn_due:
            self._take_turn()

    def close(self) -> None:
        """Close after what was written has left; closing twice is no error."""
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
