"""Headers of requests about static topics and their logical queues (logical-queues.md 9.4, 14)."""

import msgspec

from backend.remoting.headers.administration import CreateTopicHeader
from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64

MAPPING_VERSION = 1
"""The requester understands recorded ends of contiguous segments, unlike tools of stock."""


class StaticTopicHeader(CreateTopicHeader, frozen=True, kw_only=True):
    """The new configuration of a static topic, whose mapping is the body (513)."""

    mapping_version: Int32 = msgspec.field(name="lqv", default=0)
    is_final: bool = msgspec.field(name="lqFinal", default=False)
    """Ours: no move of the change is open, and the mapping has every queue of the broker group."""


class MappingHeader(Header, frozen=True, kw_only=True):
    """What the requester of mappings understands; ours (21, 351)."""

    mapping_version: Int32 = msgspec.field(name="lqv", default=0)


class TopicConfigHeader(MappingHeader, frozen=True, kw_only=True):
    """The topic whose configuration is requested (351), with its mapping if `lo` is true."""

    topic: str
    is_logical: bool = msgspec.field(name="lo", default=False)


class LogicalQueueHeader(Header, frozen=True, kw_only=True):
    """The logical queue of a request, and the epoch of its change; ours (7012, 7013, 7014)."""

    topic: str
    global_id: Int32
    epoch: Int64


class PrepareLogicalQueueHeader(LogicalQueueHeader, frozen=True, kw_only=True):
    """The logical queue that needs a physical one; ours (7011)."""

    is_reuse_across_allowed: bool = msgspec.field(name="reuseAcrossQueues", default=False)
    """Whether the physical queue of another logical queue may be used again."""


class RetirePhysicalQueueHeader(LogicalQueueHeader, frozen=True, kw_only=True):
    """The physical queue of a dropped segment, and the offset after its last message; ours (7016).

    The epoch is that of the mapping.
    """

    queue_id: Int32
    generation: Int32
    final_offset: Int64


class PreparedQueueAnswer(Header, frozen=True, kw_only=True):
    """The physical queue that is reserved, and the first offset to use in it (7011)."""

    queue_id: Int32
    start_offset: Int64


class SealedQueueAnswer(Header, frozen=True, kw_only=True):
    """The physical offsets of the sealed segment, and its store times; -1 without a message.

    The end is after the last message (7012).
    """

    final_offset: Int64
    start_offset: Int64
    first_stored_ms: Int64 = msgspec.field(name="timeOfStart", default=-1)
    last_stored_ms: Int64 = msgspec.field(name="timeOfEnd", default=-1)


class LogicalQueuesHeader(Header, frozen=True, kw_only=True):
    """The static topic of the answer; without it all (7015)."""

    topic: str | None = None
