"""Bodies about the mappings that a returned broker group asks for: ours (7017)."""

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.integers import Int32, Int64


class HeldEpochs(Body, frozen=True, kw_only=True):
    """The epochs of the mappings that a broker group has, by topic."""

    epochs: dict[str, Int64] = msgspec.field(default_factory=dict)


class NewerMapping(Body, frozen=True, kw_only=True):
    """The mapping of one topic for the broker group, in the form of 513, and its queue counts."""

    mapping: msgspec.Raw
    read_queue_count: Int32 = msgspec.field(name="readQueueNums")
    write_queue_count: Int32 = msgspec.field(name="writeQueueNums")
    is_final: bool = False
    """As `lqFinal` of 513."""


class NewerMappings(Body, frozen=True, kw_only=True):
    """The mappings that are newer than those of the broker group, by topic."""

    topics: dict[str, NewerMapping] = msgspec.field(default_factory=dict)
