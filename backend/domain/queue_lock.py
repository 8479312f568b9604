"""Describe who holds a queue in order, and who leads a group under a lease."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backend.domain.broker_name import BrokerName
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.replica_group import LeasePolicy


class Holder(StrEnum):
    """Whether the holder of a lock is still connected."""

    CONNECTED = "connected"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class BrokerKey:
    """Name a broker of a cluster where it is asked; earlier journals hold no own id."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    own_id: int | None = None

    @property
    def name(self) -> BrokerName:
        """Name the broker, whatever its role."""
        return BrokerName(
            self.broker_group_name, self.broker_id if self.own_id is None else self.own_id
        )


@dataclass(frozen=True, slots=True)
class HeldLock:
    """Hold one lock as its broker tells it; ages in milliseconds by the broker's own clock (D3).

    `locked_at_ms` is the broker's mark of this hold: the same client that locks again after a
    release has another. `broker_name` is how the client spelled the broker group. `idle_ms` is the
    time since the last renewal, `heard_ms` since the last heartbeat of a holder that is connected.
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
    """Hold the locks that a broker listed, and how many it has."""

    locks: tuple[HeldLock, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class QueueLock:
    """Hold a lock and the broker that told it."""

    broker: BrokerKey
    held: HeldLock

    @property
    def holder(self) -> Holder:
        """Tell whether its holder is still there."""
        return Holder.CONNECTED if self.held.is_connected else Holder.GONE

    @property
    def key(self) -> tuple[str, str, str, str, int, str]:
        """Order locks as lists show them, and tell each from all others."""
        broker, held = self.broker, self.held
        return (
            broker.cluster_name,
            held.consumer_group_name,
            held.topic,
            broker.broker_group_name,
            held.queue_id,
            broker.address,
        )

    @property
    def queue(self) -> str:
        """Name the queue to people."""
        return f"{self.held.topic}/{self.held.queue_id} on {self.broker.broker_group_name}"


@dataclass(frozen=True, slots=True)
class LockFilter:
    """Say which locks are meant: each fact that is given must be so."""

    cluster_name: str | None = None
    consumer_group_name: str | None = None
    topic: str | None = None
    broker_group_name: str | None = None
    queue_id: int | None = None
    client_id: str | None = None
    holder: Holder | None = None
    within: ClusterScope = EVERYWHERE

    def takes(self, lock: QueueLock) -> bool:
        """Tell whether a lock is meant."""
        found = (
            (self.cluster_name, lock.broker.cluster_name),
            (self.consumer_group_name, lock.held.consumer_group_name),
            (self.topic, lock.held.topic),
            (self.broker_group_name, lock.broker.broker_group_name),
            (self.queue_id, lock.held.queue_id),
            (self.client_id, lock.held.client_id),
            (self.holder, lock.holder),
        )
        return all(wanted is None or wanted == value for wanted, value in found)


@dataclass(frozen=True, slots=True)
class MasterLease:
    """Hold who leads a group, in which epoch, and until when it may acknowledge alone (D9).

    `ends_at` is `None` where no lease runs; under the policy `quorum` a set of two or more needs
    none.
    """

    cluster_name: str
    broker_group_name: str
    master_id: int | None
    master_address: str | None
    master_epoch: int
    policy: LeasePolicy
    is_master_alive: bool
    ends_at: datetime | None
