"""Show who holds queues in order, who leads groups, and why queues stand still."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from backend.domain.queue_lock import Holder, MasterLease, QueueLock
from backend.domain.queue_pause import Cause, Explanation
from backend.domain.replica_group import LeasePolicy
from backend.operations.engine.leases import OperationLease
from backend.services.cluster.broker_questions import UnknownBroker
from backend.services.consumer_group.queue_pauses import Explanations
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Int64, in_graph
from backend.views.observed_pages import ObservedPage

in_graph("LockHolder")(Holder)
in_graph("PauseCause")(Cause)


@dataclass(frozen=True, slots=True)
class QueueLockOut:
    """Who holds a queue in order; ages in milliseconds by the clock of its broker.

    `heard_ms` is since the holder's last heartbeat, null when it is not connected.
    """

    cluster_name: str
    consumer_group_name: str
    topic: str
    broker_group_name: str
    queue_id: int
    broker_address: str
    client_id: str
    holder: Holder
    held_ms: Int64
    renewed_ms: Int64
    expires_in_ms: Int64
    heard_ms: Int64 | None

    @classmethod
    def of(cls, lock: QueueLock) -> Self:
        """Show a lock."""
        return copied(
            cls,
            lock.held,
            cluster_name=lock.broker.cluster_name,
            broker_group_name=lock.broker.broker_group_name,
            broker_address=lock.broker.address,
            holder=lock.holder,
            renewed_ms=lock.held.idle_ms,
        )


@dataclass(frozen=True, slots=True)
class UnknownLocksOut:
    """A broker whose locks, or some of them, are not known, and why."""

    cluster_name: str
    broker_group_name: str
    name: str
    address: str
    why: str

    @classmethod
    def of(cls, unknown: UnknownBroker) -> Self:
        """Show a broker that did not answer all."""
        return copied(cls, unknown.broker, name=str(unknown.broker.name), why=unknown.why)


@in_graph("QueueLocks")
@dataclass(frozen=True, slots=True)
class LocksOut(ObservedPage[QueueLockOut, UnknownLocksOut]):
    """One page of locks, and the brokers that did not list all of theirs."""


@dataclass(frozen=True, slots=True)
class LeaseOut(Copied[MasterLease]):
    """Who leads a group, and until when it may acknowledge alone; null is no lease that runs."""

    cluster_name: str
    broker_group_name: str
    master_id: Int64 | None
    master_address: str | None
    master_epoch: int
    policy: LeasePolicy
    is_master_alive: bool
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class OperationLeaseOut(Copied[OperationLease]):
    """Which operation a worker is at: `fence` is its number, `renewed_at` when it was heard last.

    One whose lease has ended is gone; the next takes the operation over.
    """

    operation_id: UUID
    cluster_name: str
    kind: str
    target: str
    confirmed_by: str | None
    step: str | None
    fence: Int64
    renewed_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class QueueExplanationOut:
    """Why a group does not read a queue, or that it does; `is_paused` is null if unknown."""

    broker_group_name: str
    queue_id: int
    cause: Cause
    is_paused: bool | None
    sentence: str
    evidence: list[str]
    lag: Int64 | None

    @classmethod
    def of(cls, found: Explanation) -> Self:
        """Show an explanation."""
        facts = found.facts
        return copied(
            cls,
            found,
            broker_group_name=facts.broker_group_name,
            queue_id=facts.queue_id,
            lag=facts.lag,
        )


@dataclass(frozen=True, slots=True)
class ExplanationsOut:
    """The queues of a topic as one group reads them, those that stand still first."""

    queues: list[QueueExplanationOut]
    observed_at: datetime

    @classmethod
    def of(cls, found: Explanations) -> Self:
        """Show all explanations."""
        return cls([QueueExplanationOut.of(one) for one in found.queues], found.observed_at)
