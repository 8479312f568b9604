"""Bodies of POP consumption (remoting.md 2.4)."""

import base64
from typing import Final

import msgspec
from regent_engine import SHARE_WINDOW

from backend.remoting.bodies.base import Body
from backend.remoting.integers import Int32, Int64
from backend.remoting.java_json import InvalidJson

BITS_SIZE_MAX: Final = SHARE_WINDOW // 8
"""Maximum size of a set of bits, in bytes: the messages of a delivery are in one window."""

TAG_MAX: Final = 0xFFFF

_TEXT_SIZE_MAX: Final = len(base64.b64encode(bytes(BITS_SIZE_MAX)))


class BatchAck(Body, frozen=True, kw_only=True):
    """Messages of one delivery from one queue that a consumer has finished."""

    consumer_group: str = msgspec.field(name="c", default="")
    topic: str = msgspec.field(name="t", default="")
    retry: str = msgspec.field(name="r", default="0")
    start_offset: Int64 = msgspec.field(name="so", default=0)
    queue_id: Int32 = msgspec.field(name="q", default=0)
    revive_queue_id: Int32 = msgspec.field(name="rq", default=0)
    pop_time_ms: Int64 = msgspec.field(name="pt", default=0)
    invisible_ms: Int64 = msgspec.field(name="it", default=0)
    bits: str = msgspec.field(name="b", default="")

    def count(self) -> int:
        """Return the number of messages.

        Raises:
            InvalidJson: a field is malformed, or beyond its limits.
        """
        if self.start_offset < 0:
            raise InvalidJson(f"the start offset {self.start_offset} is negative")
        if not 0 <= self.revive_queue_id <= TAG_MAX:
            raise InvalidJson(f"rq is {self.revive_queue_id}: allowed values are 0 to {TAG_MAX}")
        return int.from_bytes(self._content()).bit_count()

    def offsets(self) -> list[int]:
        """Return the queue offsets of the messages.

        Raises:
            InvalidJson: the set of bits is malformed, or too large.
        """
        return [
            self.start_offset + 8 * at + bit
            for at, byte in enumerate(self._content())
            for bit in range(8)
            if byte >> bit & 1
        ]

    def _content(self) -> bytes:
        try:
            is_large = len(self.bits) > _TEXT_SIZE_MAX
            content = b"" if is_large else base64.b64decode(self.bits, validate=True)
        except ValueError as error:
            raise InvalidJson(f"the set of bits is malformed: {error}") from error
        if is_large or len(content) > BITS_SIZE_MAX:
            raise InvalidJson(f"the set of bits exceeds {BITS_SIZE_MAX} bytes")
        return content


class BatchAckBody(Body, frozen=True, kw_only=True):
    """The messages of several deliveries that a consumer has finished (200151)."""

    broker_name: str = ""
    acks: list[BatchAck] = msgspec.field(default_factory=list)
