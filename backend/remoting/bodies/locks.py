"""Bodies about queue locks and readers of queues: our requests (7003-7005), unknown to stock."""

import msgspec

from backend.remoting.bodies.base import Body


class QueueLockBody(Body, frozen=True, kw_only=True):
    """One lock of the broker; ages in milliseconds by the broker's own clock.

    `locked_at_ms` distinguishes two holds of one client: a release names both.
    """

    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str
    locked_at_ms: int
    held_ms: int
    idle_ms: int
    """The time since its holder last took or renewed it."""
    expires_in_ms: int
    is_connected: bool
    """Whether the holder is a member of the group over an open connection."""
    heard_ms: int | None
    """The time since the holder's last heartbeat, while it is connected."""


class QueueLocksBody(Body, frozen=True, kw_only=True):
    """The current locks of a broker, as many as fit a frame, and the number of all (7003)."""

    total_count: int
    locks: list[QueueLockBody] = msgspec.field(default_factory=list)


class ReleaseBody(Body, frozen=True, kw_only=True):
    """One hold to end (7004)."""

    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str
    locked_at_ms: int


class ReleasesBody(Body, frozen=True, kw_only=True):
    """Holds to end, each only if it has not changed (7004)."""

    locks: list[ReleaseBody] = msgspec.field(default_factory=list)


class QueueReaderBody(Body, frozen=True, kw_only=True):
    """The time since a group last pulled, committed and advanced in one queue, in milliseconds.

    Null means never since the broker started. Some pulls that find messages in memory are not
    recorded, but their commits are.
    """

    queue_id: int
    pulled_ms: int | None
    committed_ms: int | None
    advanced_ms: int | None
    address: str | None
    """The address of the client that was seen last."""


class QueueReadersBody(Body, frozen=True, kw_only=True):
    """The readers of a topic's queues for a group (7005)."""

    is_gate_open: bool
    """Whether the broker serves clients; it does not while it hands over."""
    observed_for_ms: int
    """The time of the broker's observation: since its start."""
    queues: list[QueueReaderBody] = msgspec.field(default_factory=list)
