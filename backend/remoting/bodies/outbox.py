"""Bodies about messages that escape from an acting master: our request 7024, unknown to stock."""

import msgspec

from backend.remoting.bodies.base import Body


class OutboxTopicBody(Body, frozen=True, kw_only=True):
    """The messages of one topic that wait for a master of another broker group."""

    kind: str
    """What they waited for before: `delayed`, `timed`, `committed` or `undecided`."""
    topic: str
    entry_count: int
    oldest_age_ms: int
    """How long the oldest one is in the outbox."""
    failure_count: int
    """The failed attempts for one message, the highest number of a queue."""
    last_failure: str | None = None
    next_attempt_in_ms: int | None = None


class OutboxBody(Body, frozen=True, kw_only=True):
    """What is in the outbox of a replica that acts for its absent master (7024)."""

    is_open: bool
    """Whether messages escape: this replica acts, and `enableRemoteEscape` is on."""
    escaped_count: int
    """The messages that escaped since the start of the broker."""
    entry_count: int
    topics: list[OutboxTopicBody] = msgspec.field(default_factory=list)
