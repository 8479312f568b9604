"""Describe locks of ordered queues, and leases of masters."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from backend.domain.broker_name import BrokerName
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.queue_filter import QueueFilter
from backend.domain.replica_group import LeasePolicy


class Holder(StrEnum):
    """Whether the holder of a lock is still connected."""

    CONNECTED = "connected"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class BrokerKey:
    """Name a broker of a cluster with its address; earlier journals contain no own id."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    own_id: int | None = None

    @property
    def name(self) -> BrokerName:
        """Return the name of the broker, which does not depend on its role."""
        return BrokerName(
            self.broker_group_name, self.broker_id if self.own_id is None else self.own_id
        )


@dataclass(frozen=True, slots=True)
class HeldLock:
    """Hold one lock as its broker reports it; ages are ms by the clock of the broker (D3).

    `locked_at_ms` identifies this lock at the broker: if the same client locks again after a
    release, the value differs. `broker_name` is the broker group as the client sent it. `idle_ms`
    is the time since the last renewal. `heard_ms` is the time since the last heartbeat of a
    connected holder.
    """

    consumer_group_name: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str
    locked_at_ms: int
    held_ms: int
    idle_ms: int
    expires_in_ms: int
    is_connected: bool
    heard_ms: int | None


@dataclass(frozen=True, slots=True)
class HeldLocks:
    """Hold the locks that a broker listed, and the number of its locks."""

    locks: tuple[HeldLock, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class QueueLock:
    """Hold a lock and the broker that reported it.

    Clients lock the logical queues of a static topic: `is_logical` says that the queue is one, and
    `physical_queue_id` is the queue of the broker group that its newest segment there is in.
    """

    broker: BrokerKey
    held: HeldLock
    is_logical: bool = False
    physical_queue_id: int | None = None

    @property
    def holder(self) -> Holder:
        """Return whether its holder is still connected."""
        return Holder.CONNECTED if self.held.is_connected else Holder.GONE

    @property
    def key(self) -> tuple[str, str, str, str, int, str]:
        """Return a key that orders locks in lists, and identifies each."""
        broker, held = self.broker, self.held
        return (
            broker.cluster_name,
            held.consumer_group_name,
            held.topic,
            broker.broker_group_name,
            held.queue_id,
            broker.address,
        )

    def mapped(self, mapping: TopicMapping | None) -> "QueueLock":
        """Return the lock with what the mapping of its topic says of the queue; None for none."""
        if mapping is None:
            return self
        queue = mapping.queue(self.held.queue_id)
        name = self.broker.broker_group_name
        here = [
            one.queue_id
            for one in (() if queue is None else queue.segments)
            if one.broker_group_name == name
        ]
        return replace(self, is_logical=True, physical_queue_id=here[-1] if here else None)

    @property
    def queue(self) -> str:
        """Name the queue to people."""
        return f"{self.held.topic}/{self.held.queue_id} on {self.broker.broker_group_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockFilter(QueueFilter):
    """Choose locks. A lock must fulfil each condition that is given."""

    client_id: str | None = None
    holder: Holder | None = None

    def takes(self, lock: QueueLock) -> bool:
        """Return whether a lock fulfils the conditions."""
        return (
            self.takes_queue(lock.broker, lock.held)
            and self.client_id in (None, lock.held.client_id)
            and self.holder in (None, lock.holder)
        )


@dataclass(frozen=True, slots=True)
class MasterLease:
    """Hold the master of a group, its epoch, and the end of its lease (D9).

    `ends_at` is `None` if no lease runs. Under the policy `quorum` a set of two or more needs no
    lease.
    """

    cluster_name: str
    broker_group_name: str
    master_id: int | None
    master_address: str | None
    master_epoch: int
    policy: LeasePolicy
    is_master_alive: bool
    ends_at: datetime | None
