"""Read the data that a peer sent before its connection broke.

A transport that fails to write closes its socket, and discards received but unread data. The kernel
keeps that data until the socket is closed. A protocol's `connection_lost` is called before that, so
it can read the data.
"""

import os
from typing import Final

UNREAD_BYTES_MAX: Final = 16 << 20
"""More than the kernel's buffer of one socket. A broken connection receives nothing more."""

_PIECE_BYTES: Final = 1 << 20


def read_unread(descriptor: int) -> bytes:
    """Read all data that a non-blocking socket still holds, and never wait."""
    pieces: list[bytes] = []
    size = 0
    while size < UNREAD_BYTES_MAX:
        try:
            piece = os.read(descriptor, _PIECE_BYTES)
        except OSError:
            # No data is left, or only the error of the connection.
            break
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
