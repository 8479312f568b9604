"""Describe what a broker agent tells about itself for the history (D25; our request 7001)."""

import msgspec

from backend.remoting.bodies.base import Body


class QueueSample(Body, frozen=True, kw_only=True):
    """The ends of one queue."""

    queue_id: int
    min_offset: int
    max_offset: int


class TopicSample(Body, frozen=True, kw_only=True):
    """What one topic has taken in since the agent booted, and its queues."""

    name: str
    messages_in: int
    bytes_in: int
    queues: list[QueueSample] = msgspec.field(default_factory=list)


class BrokerSample(Body, frozen=True, kw_only=True):
    """Counters since boot, positions and resources of one broker at one moment.

    `broker_id` is that of the role, which a change of master moves to another broker; `own_id`
    stays with this one, and agents of before do not tell it. The disk's size is without what the
    system keeps for itself.
    """

    observed_at_ms: int
    booted_at_ms: int
    cluster_name: str
    broker_name: str
    broker_id: int
    own_id: int | None = None
    messages_in: int
    bytes_in: int
    messages_out: int
    bytes_out: int
    commit_log_min_position: int
    commit_log_max_position: int
    flushed_position: int
    store_bytes: int
    disk_total_bytes: int
    disk_free_bytes: int
    resident_bytes: int
    cpu_seconds: float
    topics: list[TopicSample] = msgspec.field(default_factory=list)
