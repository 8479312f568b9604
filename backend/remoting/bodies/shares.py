"""Bodies about share queues: our requests (7031-7036), unknown to stock."""

from typing import Annotated

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.integers import Int32

Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ShareQueueBody(Body, frozen=True, kw_only=True):
    """A share queue as its owner has it (queue-ownership.md 4.5).

    Times are milliseconds by the clock of the broker. Counts of deliveries and of their outcomes
    are those since this broker began to lead its group.
    """

    topic: str
    queue_id: int
    consumer_group: str
    mode: str
    """Which member may own it: `PRIMARY` is the master always, `SHARED` any one by lease."""
    consume_mode: str | None = None
    """How operators want the group to receive the topic: `PULL`, `POP`, or null if unset."""
    epoch: int
    """The lease epoch of its last owner."""
    reset_epoch: int
    """The lease epoch of its last reset; 0 before the first one."""
    is_used: bool
    """Whether a consumer has asked since this broker leads, or since the last reset."""
    is_ordered: bool
    attempt_count_max: int
    discards: bool
    """Whether messages that are given up have no dead letter."""
    start: int
    """Each offset before it is finished."""
    end: int
    """The first offset that was never delivered."""
    max_offset: int
    """The end of the queue for readers."""
    window_size: int
    """The most offsets between start and end."""
    acquired_count: int
    """Messages that consumers have."""
    returned_count: int
    """Messages that were delivered, and that no consumer has or has finished."""
    finished_count: int
    """Finished messages behind the start."""
    oldest_acquired_ms: int | None = None
    """The time since the oldest of the present deliveries."""
    oldest_delivered_ms: int | None = None
    """The time since the first delivery of the oldest message that is not finished."""
    delivered_count: int
    redelivered_count: int
    accepted_count: int
    dead_letter_count: int
    discarded_count: int
    retried_count: int
    """Messages that moved to the retry topic, since a consumer gave them back for a long time."""


class ShareQueuesBody(Body, frozen=True, kw_only=True):
    """The share queues of a broker, as many as fit a frame, and the number of all (7031)."""

    is_leading: bool
    """Whether the broker owns share queues; only the master does."""
    led_ms: int
    """The time since the broker began to lead its group; 0 if it does not lead."""
    total_count: int
    queues: list[ShareQueueBody] = msgspec.field(default_factory=list)
    protocol_version: int | None = None
    """The version of the next records of the lane; null if the broker does not lead."""


class ShareMessageBody(Body, frozen=True, kw_only=True):
    """A message that was delivered, and is not finished.

    `pop_time_ms` and `tag` identify its present or last delivery: a release names both.
    """

    offset: int
    pop_time_ms: int
    tag: int
    is_acquired: bool
    """Whether a consumer has it."""
    client_id: str | None = None
    """The consumer that has it; null if none has it, or if the broker does not know its id."""
    is_connected: bool
    """Whether that consumer is connected."""
    acquired_ms: int
    """The time since that delivery."""
    delivered_ms: int
    """The time since its first delivery."""
    due_in_ms: int
    """The time until it can be delivered again; 0 if it can be delivered now."""
    delivery_count: int


class ShareMessagesBody(Body, frozen=True, kw_only=True):
    """A share queue and its messages that were delivered and are not finished (7032)."""

    is_leading: bool
    led_ms: int
    queue: ShareQueueBody | None = None
    """Null if the group has no share queue there."""
    messages: list[ShareMessageBody] = msgspec.field(default_factory=list)


class ShareHoldBody(Body, frozen=True, kw_only=True):
    """One message in the hands of a consumer, by the delivery that put it there (7033)."""

    offset: int
    pop_time_ms: int
    tag: int


class ReleaseSharesBody(Body, frozen=True, kw_only=True):
    """Messages of a share queue to release, each only if its delivery has not changed (7033)."""

    topic: str
    queue_id: int
    consumer_group: str
    holds: list[ShareHoldBody] = msgspec.field(default_factory=list)


class FinishedShareBody(Body, frozen=True, kw_only=True):
    """All that is finished of a share queue (7034, 7035)."""

    topic: str
    queue_id: Int32
    consumer_group: str
    number: Natural
    """Its number in the state log. A group that was deleted and made again has another one."""
    reset_epoch: Natural
    """The lease epoch of its last reset; 0 before the first one."""
    ranges: list[tuple[Natural, Natural]]
    """Rising ranges, each a first offset and the offset behind the last one."""


class FinishedSharesBody(Body, frozen=True, kw_only=True):
    """Share queues of which a member knows more than the log of its group (7034, 7035)."""

    shares: list[FinishedShareBody] = msgspec.field(default_factory=list)


class ShareStateBody(Body, frozen=True, kw_only=True):
    """The state of a share queue of a logical queue, as its former owner had it (7036)."""

    consumer_group: str
    epoch: int
    """The lease epoch of the former owner."""
    record: bytes
    """A SNAP record (queue-ownership.md 4.4); its times count from the answer on."""


class ShareStatesBody(Body, frozen=True, kw_only=True):
    """The states of all share queues of a logical queue (7036)."""

    states: list[ShareStateBody] = msgspec.field(default_factory=list)
