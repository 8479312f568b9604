"""Describe the sample of a broker agent for the history (D25; our request 7001)."""

from typing import Annotated

import msgspec

from backend.remoting.bodies.base import Body

# The history stores figures in 64 bits, queues in 32, and times as such. A figure that does not fit
# would stop the archive for all brokers.
Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
QueueId = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Instant = Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799_999)]
"""Milliseconds since 1970, up to the end of the year 9999."""


class QueueSample(Body, frozen=True, kw_only=True):
    """The first and last offset of one queue."""

    queue_id: QueueId
    min_offset: Number
    max_offset: Number


class TopicSample(Body, frozen=True, kw_only=True):
    """The messages that one topic received since the agent's start, and its queues."""

    name: str
    messages_in: Number
    bytes_in: Number
    queues: list[QueueSample] = msgspec.field(default_factory=list)


class BrokerSample(Body, frozen=True, kw_only=True):
    """Counters since the start, positions and resources of one broker at one time.

    `broker_id` is the id of the role, which a failover moves to another broker. `own_id` stays with
    the broker; earlier agents do not send it. The disk's size excludes the space that the system
    reserves.
    """

    observed_at_ms: Instant
    booted_at_ms: Instant
    cluster_name: str
    broker_name: str
    broker_id: Number
    own_id: Number | None = None
    messages_in: Number
    bytes_in: Number
    messages_out: Number
    bytes_out: Number
    commit_log_min_position: Number
    commit_log_max_position: Number
    flushed_position: Number
    store_bytes: Number
    disk_total_bytes: Number
    disk_free_bytes: Number
    resident_bytes: Number
    cpu_seconds: float
    topics: list[TopicSample] = msgspec.field(default_factory=list)
