"""Implement one side of a remoting connection: bytes in, commands out, answers matched.

It never waits and owns no socket. The shell passes received chunks in, writes the bytes that
`request` returns, and resolves the waiter that `take` returns for an answer.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Generic, TypeVar

from regent_engine import (
    EXT_COUNT_MAX,
    FRAME_PREFIX_SIZE,
    HEADER_SIZE_MAX,
    Command,
    Decoder,
    ProtocolError,
    encode_command,
)

from backend.remoting.command import notice, request
from backend.remoting.errors import LocalProtocolError, RemoteProtocolError, RequestTooLarge

FRAME_SIZE_MAX: Final = 16 << 20
HEADER_WRITTEN_MAX: Final = (1 << 24) - 1
"""The largest header that we write: the answer to a batch names each of its messages. Headers of
clients are smaller."""

PENDING_COUNT_MAX: Final = 1024
_OPAQUE_MAX: Final = 2**31 - 1

Waiter = TypeVar("Waiter")


class PeerConnection(Generic[Waiter]):
    """Decodes the frames of a peer, and keeps the waiters of open requests.

    A waiter is any object of the shell for an open request, for example a future.
    """

    def __init__(
        self,
        *,
        frame_size_max: int = FRAME_SIZE_MAX,
        pending_count_max: int = PENDING_COUNT_MAX,
    ) -> None:
        self._decoder = Decoder(frame_size_max, header_size_max=HEADER_WRITTEN_MAX)
        self._pending: dict[int, Waiter] = {}
        self._pending_count_max = pending_count_max
        self._opaque = 0
        self._commands: list[Command] = []

    @property
    def pending_count(self) -> int:
        """Count the requests that wait for their answers."""
        return len(self._pending)

    def receive_data(self, data: bytes) -> None:
        """Take a chunk of any size; `commands` returns the whole commands.

        Raises:
            RemoteProtocolError: the peer sent an invalid or oversized frame; close the connection.
        """
        try:
            self._commands.extend(self._decoder.receive(data))
        except ProtocolError as error:
            raise RemoteProtocolError(str(error)) from error

    def commands(self) -> list[Command]:
        """Return the whole commands received so far, each once and in order."""
        commands, self._commands = self._commands, []
        return commands

    def request(
        self,
        code: int,
        waiter: Waiter,
        *,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> bytes:
        """Encode a request and keep the waiter until its answer arrives.

        Raises:
            LocalProtocolError: too many requests are open.
        """
        opaque = self._opaque_of_another()
        frame = request(code, opaque=opaque, ext=ext, body=body)
        self._pending[opaque] = waiter
        return frame

    def passed_on(
        self,
        command: Command,
        waiter: Waiter | None,
        ext: Mapping[str, str],
        body: bytes | None = None,
    ) -> bytes:
        """Encode the request of another peer, under our opaque and with more fields.

        Another body replaces its own. Without a waiter, as for one-way requests, no answer is
        expected.

        Raises:
            LocalProtocolError: too many requests are open.
            RequestTooLarge: with the fields the request exceeds what a peer reads.
        """
        opaque = self._opaque_of_another()
        body, ext = command.body if body is None else body, {**command.ext, **ext}
        frame = encode_command(
            code=command.code,
            opaque=opaque,
            flag=command.flag,
            language=command.language,
            version=command.version,
            ext=ext,
            body=body,
            encoding=command.encoding,
        )
        header_size = len(frame) - FRAME_PREFIX_SIZE - len(body)
        if header_size > HEADER_SIZE_MAX or len(ext) > EXT_COUNT_MAX or len(frame) > FRAME_SIZE_MAX:
            reason = f"the request has {len(frame)} bytes, {header_size} of them in the header"
            raise RequestTooLarge(f"{reason}, and {len(ext)} fields: no other broker reads it")
        if waiter is not None:
            self._pending[opaque] = waiter
        return frame

    def notice(
        self, code: int, *, ext: Mapping[str, str] | None = None, body: bytes = b""
    ) -> bytes:
        """Encode a one-way request."""
        return notice(code, opaque=self._next_opaque(), ext=ext, body=body)

    def take(self, response: Command) -> Waiter | None:
        """Return the waiter of an answer; None if there was no request, or it was dropped."""
        return self._pending.pop(response.opaque, None)

    def forget(self, waiter: Waiter) -> None:
        """Drop a waiter after its deadline; a late answer is then ignored."""
        for opaque, kept in self._pending.items():
            if kept is waiter:
                del self._pending[opaque]
                return

    def abandon(self) -> Iterable[Waiter]:
        """Return every waiter when the connection has ended."""
        pending, self._pending = self._pending, {}
        return pending.values()

    def _opaque_of_another(self) -> int:
        if len(self._pending) >= self._pending_count_max:
            raise LocalProtocolError(f"{len(self._pending)} requests are open on one connection")
        return self._next_opaque()

    def _next_opaque(self) -> int:
        self._opaque = self._opaque + 1 if self._opaque < _OPAQUE_MAX else 0
        return self._opaque
