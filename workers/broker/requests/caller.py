"""What a processor may know of the connection that a request came by."""

from typing import Final, Protocol

OPEN_COUNT_MAX: Final = 64
"""So many requests of one connection are served at once, but for those of the hot path."""


class Caller(Protocol):
    """One connected client; hashable by identity, so that tables can be keyed by it."""

    @property
    def peer(self) -> tuple[str, int]:
        """Give the numeric address and port of the other side."""

    @property
    def address(self) -> str:
        """Give the other side as `ip:port` text."""

    @property
    def is_fast(self) -> bool:
        """Return whether the request came by the port two below the main one."""

    @property
    def is_congested(self) -> bool:
        """Return whether the client reads its answers too slowly."""

    @property
    def is_gone(self) -> bool:
        """Return whether the client has left, and its last requests are being served."""

    def send(self, frame: bytes, body: bytes = b"") -> None:
        """Write a frame, its body perhaps apart, unless the connection is gone."""

    def close(self) -> None:
        """Close the connection after what was written."""

    def abort(self) -> None:
        """Close the connection at once, whatever was written."""
