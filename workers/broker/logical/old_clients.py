"""Serve clients that do not know static topics (logical-queues.md 18.3).

They send all requests to one broker group. Clients of version 5 name their queues by global ids,
and add `offsetDelta` to the offsets of messages. Other clients take both from the records, so the
broker writes them there.
"""

import struct
from typing import Final

from regent_engine import Command

from backend.domain.logical_queue.route import knows_static_topics

JAVA: Final = "JAVA"
CAPABLE_FIELD: Final = "lqv"

# The layout of a record (storage-and-ha.md 2.2).
_SIZE: Final = struct.Struct(">i")
_QUEUE_ID: Final = struct.Struct(">i")
_QUEUE_ID_AT: Final = 12
_OFFSET: Final = struct.Struct(">q")
_OFFSET_AT: Final = 20


def adds_delta(command: Command) -> bool:
    """Return whether the client of a request adds `offsetDelta` to the offsets of messages."""
    return knows_static_topics(
        version=command.version,
        is_java=command.language == JAVA,
        sends_lqv=CAPABLE_FIELD in command.ext,
    )


def with_logical_places(records: bytes, global_id: int, delta: int) -> bytes:
    """Return whole records with the id of a logical queue, and with their offsets in it."""
    changed = bytearray(records)
    at = 0
    while at < len(changed):
        (offset,) = _OFFSET.unpack_from(changed, at + _OFFSET_AT)
        _OFFSET.pack_into(changed, at + _OFFSET_AT, offset + delta)
        _QUEUE_ID.pack_into(changed, at + _QUEUE_ID_AT, global_id)
        at += _SIZE.unpack_from(changed, at)[0]
    return bytes(changed)
