"""Bodies about queue locks and who reads a queue; ours (7003-7005), stock brokers know none."""

import msgspec

from backend.remoting.bodies.base import Body


class QueueLockBody(Body, frozen=True, kw_only=True):
    """One lock as the broker holds it; ages in milliseconds by the broker's own clock.

    `locked_at_ms` tells one hold of a client from its next: a release names both.
    """

    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str
    locked_at_ms: int
    held_ms: int
    idle_ms: int
    """How long ago its holder last took or renewed it."""
    expires_in_ms: int
    is_connected: bool
    """Whether the holder is a member of the group over an open connection."""
    heard_ms: int | None
    """How long ago the holder's last heartbeat came, while it is connected."""


class QueueLocksBody(Body, frozen=True, kw_only=True):
    """The living locks of a broker, as many as a frame carries, and how many there are (7003)."""

    total_count: int
    locks: list[QueueLockBody] = msgspec.field(default_factory=list)


class ReleaseBody(Body, frozen=True, kw_only=True):
    """One hold that is to end (7004)."""

    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str
    locked_at_ms: int


class ReleasesBody(Body, frozen=True, kw_only=True):
    """Holds that are to end, each only if it is still the same (7004)."""

    locks: list[ReleaseBody] = msgspec.field(default_factory=list)


class QueueReaderBody(Body, frozen=True, kw_only=True):
    """How long ago a group last pulled, committed and advanced in one queue, in milliseconds.

    Null is not seen since the broker started. Pulls that find messages in memory are not seen
    each, but their commits are.
    """

    queue_id: int
    pulled_ms: int | None
    committed_ms: int | None
    advanced_ms: int | None
    address: str | None
    """Where the client that was seen last is connected from."""


class QueueReadersBody(Body, frozen=True, kw_only=True):
    """Who reads the queues of a topic for a group (7005)."""

    is_gate_open: bool
    """Whether clients are served, which they are not while a master hands over."""
    observed_for_ms: int
    """How long the broker has been looking, which is since it started."""
    queues: list[QueueReaderBody] = msgspec.field(default_factory=list)
