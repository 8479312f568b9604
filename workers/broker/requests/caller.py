"""The connection of a request, as far as a processor may use it."""

from typing import Final, Protocol

from regent_engine import Command, PullGrant

OPEN_COUNT_MAX: Final = 64
"""Number of requests of one connection that are served at once, except those of the hot path."""


class Caller(Protocol):
    """One connected client; hashable by identity, so that it can be a key of tables."""

    @property
    def peer(self) -> tuple[str, int]:
        """Return the numeric address and port of the peer."""

    @property
    def address(self) -> str:
        """Return the peer as `ip:port` text."""

    @property
    def connection_id(self) -> int:
        """Return the number of the connection in the engine."""

    @property
    def is_fast(self) -> bool:
        """Return whether the request came by the port two below the main port."""

    @property
    def is_congested(self) -> bool:
        """Return whether the client reads its answers too slowly."""

    @property
    def is_gone(self) -> bool:
        """Return whether the client has closed its side, and its last requests are being served."""

    def send(self, frame: bytes, body: bytes = b"") -> None:
        """Write a frame, optionally with a separate body, unless the connection is closed."""

    def park(
        self,
        command: Command,
        grant: PullGrant,
        *,
        queue_id: int,
        offset: int,
        count_max: int,
        deadline_ms: int,
        wake_count: int,
        global_id: int | None = None,
        adds_delta: bool = True,
    ) -> bool:
        """Have a pull wait for messages from an offset on; False when there is no space.

        Queue id and offset are physical; in a static topic the pull has the global id, and its
        client may add `offsetDelta` to offsets. The deadline is by the clock that is never set. The
        wake count is that of the hot path before the pull looked for messages.
        """

    def pop(self, command: Command, grant: PullGrant, *, may_wait: bool) -> bool:
        """Answer a checked POP, or have it wait for messages.

        False if its share queues have no names yet, or if it would have to wait for the disk and
        may not.
        """

    def close(self) -> None:
        """Close the connection after all writes."""

    def abort(self) -> None:
        """Close the connection at once, without the pending writes."""
