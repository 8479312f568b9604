"""Describe share queues: a consumer group's view of one queue, from which POP consumers receive."""

from dataclasses import dataclass
from enum import StrEnum

from backend.domain.broker_name import BrokerName
from backend.domain.queue_filter import QueueFilter
from backend.domain.queue_lock import BrokerKey, Holder
from backend.domain.share_mode import ShareMode


class ConsumeMode(StrEnum):
    """Name how a group receives the messages of a topic: queue by queue, or from share queues."""

    PULL = "PULL"
    POP = "POP"


@dataclass(frozen=True, slots=True)
class ConsumeSetting:
    """Hold how a group receives a topic on a broker.

    By POP each client receives from its queues, and from those of `shared_client_count` other
    clients; 0 means from all queues.
    """

    mode: ConsumeMode
    shared_client_count: int = 0

    @property
    def text(self) -> str:
        """Write the setting, the same for the same values."""
        if self.mode is ConsumeMode.PULL or not self.shared_client_count:
            return self.mode
        return f"{self.mode} with the queues of {self.shared_client_count} other clients"


@dataclass(frozen=True, slots=True, order=True)
class ShareQueueName:
    """Identify a share queue in its broker group."""

    topic: str
    queue_id: int
    consumer_group_name: str


@dataclass(frozen=True, slots=True)
class HeldShareQueue:
    """Hold a share queue as its owner reports it (queue-ownership.md 4.5).

    Ages are ms by the clock of the owner. Counts of deliveries and of their outcomes are those of
    the last `counted_ms`, since the owner began to lead its group.
    """

    topic: str
    queue_id: int
    consumer_group_name: str
    mode: ShareMode
    consume_mode: ConsumeMode | None
    epoch: int
    reset_epoch: int
    is_used: bool
    is_ordered: bool
    attempt_count_max: int
    discards: bool
    start: int
    end: int
    max_offset: int
    window_size: int
    acquired_count: int
    returned_count: int
    finished_count: int
    oldest_acquired_ms: int | None
    oldest_delivered_ms: int | None
    delivered_count: int
    redelivered_count: int
    accepted_count: int
    dead_letter_count: int
    discarded_count: int
    retried_count: int
    counted_ms: int

    @property
    def unfinished_count(self) -> int:
        """Return the number of messages that the group has not finished."""
        return max(0, self.max_offset - self.start - self.finished_count)

    @property
    def is_full(self) -> bool:
        """Return whether no new message is delivered before the first one is finished."""
        return self.end - self.start >= self.window_size


@dataclass(frozen=True, slots=True)
class HeldShareQueues:
    """Hold the share queues that a broker listed, whether it leads, and the number of all.

    `protocol_version` is the version of the records that it writes next; None if it does not lead.
    """

    is_leading: bool
    queues: tuple[HeldShareQueue, ...]
    total_count: int
    protocol_version: int | None = None


@dataclass(frozen=True, slots=True)
class ShareMessage:
    """Hold a message that was delivered, and is not finished; ages are ms by the owner's clock.

    `pop_time_ms` and `tag` identify its present or last delivery. `client_id` is None if no
    consumer has the message, or if its owner does not know who has it.
    """

    offset: int
    pop_time_ms: int
    tag: int
    is_acquired: bool
    client_id: str | None
    is_connected: bool
    acquired_ms: int
    delivered_ms: int
    due_in_ms: int
    delivery_count: int

    @property
    def holder(self) -> Holder | None:
        """Return whether its consumer is connected; None if no consumer has it."""
        if not self.is_acquired:
            return None
        return Holder.CONNECTED if self.is_connected else Holder.GONE


@dataclass(frozen=True, slots=True)
class ShareMessages:
    """Hold a share queue, None if there is none, and its delivered, unfinished messages."""

    is_leading: bool
    queue: HeldShareQueue | None
    messages: tuple[ShareMessage, ...]


@dataclass(frozen=True, slots=True)
class ShareQueue:
    """Hold a share queue as the master of its broker group reports it, and who owns it.

    `owner` is None if no member has the lease of a share queue in SHARED mode. `waiters` are the
    members that wait for it, in the order in which they get it.
    """

    broker: BrokerKey
    held: HeldShareQueue
    owner: BrokerName | None
    owner_address: str | None
    waiters: tuple[BrokerName, ...] = ()

    @classmethod
    def of_master(cls, broker: BrokerKey, held: HeldShareQueue) -> "ShareQueue":
        """Return a share queue that its reporter owns."""
        return cls(broker, held, broker.name, broker.address)

    @property
    def name(self) -> ShareQueueName:
        """Return what identifies it in its broker group."""
        held = self.held
        return ShareQueueName(held.topic, held.queue_id, held.consumer_group_name)

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """Return a key that orders share queues in lists, and identifies each."""
        held = self.held
        return (
            self.broker.cluster_name,
            held.consumer_group_name,
            held.topic,
            self.broker.broker_group_name,
            held.queue_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareQueueFilter(QueueFilter):
    """Choose share queues. A share queue must fulfil each condition that is given."""

    def takes(self, queue: ShareQueue) -> bool:
        """Return whether a share queue fulfils the conditions."""
        return self.takes_queue(queue.broker, queue.held)
