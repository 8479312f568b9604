"""Read what a peer sent before its connection broke.

A transport that fails to write closes its socket, and what was received but not read is dropped
with it. The kernel keeps those bytes until the socket is closed. A protocol's `connection_lost`
is called before that, so that they can be read there.
"""

import os
from typing import Final

UNREAD_BYTES_MAX: Final = 16 << 20
"""More than the kernel's buffer of one socket holds. A broken connection receives nothing more."""

_PIECE_BYTES: Final = 1 << 20


def read_unread(descriptor: int) -> bytes:
    """Read all that a socket in non-blocking mode still holds, and never wait."""
    pieces: list[bytes] = []
    size = 0
    while size < UNREAD_BYTES_MAX:
        try:
            piece = os.read(descriptor, _PIECE_BYTES)
        except OSError:
            # Nothing is left, or nothing but the reason why the connection broke.
            break
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
