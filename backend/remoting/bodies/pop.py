"""Bodies of POP consumption (remoting.md 2.4)."""

import base64
import binascii

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.integers import Int32, Int64
from backend.remoting.java_json import InvalidJson


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

    def offsets(self) -> list[int]:
        """Return the queue offsets of the messages.

        Raises:
            InvalidJson: the set of bits is malformed.
        """
        try:
            content = base64.b64decode(self.bits, validate=True)
        except binascii.Error as error:
            raise InvalidJson(f"the set of bits is malformed: {error}") from error
        return [
            self.start_offset + 8 * at + bit
            for at, byte in enumerate(content)
            for bit in range(8)
            if byte >> bit & 1
        ]


class BatchAckBody(Body, frozen=True, kw_only=True):
    """The messages of several deliveries that a consumer has finished (200151)."""

    broker_name: str = ""
    acks: list[BatchAck] = msgspec.field(default_factory=list)
