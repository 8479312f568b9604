"""Show locks of ordered queues, leases of masters and workers, and why queues are paused."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from backend.domain.queue_lock import Holder, MasterLease, QueueLock
from backend.domain.queue_pause import Cause, Explanation
from backend.domain.replica_group import LeasePolicy
from backend.operations.engine.leases import OperationLease
from backend.services.consumer_group.queue_pauses import Explanations
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    CLUSTER_NAME,
    CONFIRMED_BY,
    CONSUMER_GROUP,
    IS_MASTER_ALIVE,
    LAG,
    LEASE_POLICY,
    MASTER_EPOCH,
    MASTER_ID,
    OBSERVED_AT,
    OPERATION_ID,
    OPERATION_KIND,
    OPERATION_TARGET,
    QUEUE_ID,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut

in_graph("LockHolder")(Holder)
in_graph("PauseCause")(Cause)


@dataclass(frozen=True, slots=True)
class QueueLockOut:
    """A lock of an ordered queue; ages are milliseconds by the clock of the broker.

    `heard_ms` is since the last heartbeat of the holder. It is null if the holder is not
    connected.
    """

    cluster_name: Annotated[str, CLUSTER_NAME]
    consumer_group_name: Annotated[str, CONSUMER_GROUP]
    topic: Annotated[str, TOPIC_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[
        int, Text("Number of the queue in its broker group, or of a logical queue in its topic.")
    ]
    is_logical: Annotated[bool, Text("Whether it is a logical queue of a static topic.")]
    physical_queue_id: Annotated[
        int | None,
        Text(
            "Number of the queue in the broker group that stores the logical queue. Null for other"
            " queues, or if none there does."
        ),
    ]
    broker_address: Annotated[str, BROKER_ADDRESS]
    client_id: Annotated[str, Text("Id of the client that holds the lock.")]
    holder: Annotated[Holder, Text("Whether the holder is connected to the broker.")]
    held_ms: Annotated[
        Int64, Text("Milliseconds since the client took the lock, by the clock of the broker.")
    ]
    renewed_ms: Annotated[
        Int64, Text("Milliseconds since the last renewal, by the clock of the broker.")
    ]
    expires_in_ms: Annotated[
        Int64, Text("Milliseconds until the lock expires unless it is renewed.")
    ]
    heard_ms: Annotated[
        Int64 | None,
        Text("Milliseconds since the last heartbeat of the holder. Null if it is not connected."),
    ]

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
            is_logical=lock.is_logical,
            physical_queue_id=lock.physical_queue_id,
        )


@in_graph("QueueLocks")
@dataclass(frozen=True, slots=True)
class LocksOut(ObservedPage[QueueLockOut, UnknownBrokerOut]):
    """One page of locks, and the brokers that did not list all of their locks."""


@dataclass(frozen=True, slots=True)
class LeaseOut(Copied[MasterLease]):
    """The master of a group, and when its lease ends; null if no lease runs."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    master_id: Annotated[Int64 | None, MASTER_ID]
    master_address: Annotated[
        str | None, Text("Address of the recorded master. Null if there is none.")
    ]
    master_epoch: Annotated[int, MASTER_EPOCH]
    policy: Annotated[LeasePolicy, LEASE_POLICY]
    is_master_alive: Annotated[bool, IS_MASTER_ALIVE]
    ends_at: Annotated[
        datetime | None, Text("Time when the lease of the master ends. Null if no lease runs.")
    ]


@dataclass(frozen=True, slots=True)
class OperationLeaseOut(Copied[OperationLease]):
    """The operation that a worker carries out, with its fencing number.

    After the end of the lease another worker takes over the operation.
    """

    operation_id: Annotated[UUID, OPERATION_ID]
    cluster_name: Annotated[str, CLUSTER_NAME]
    kind: Annotated[str, OPERATION_KIND]
    target: Annotated[str, OPERATION_TARGET]
    confirmed_by: Annotated[str | None, CONFIRMED_BY]
    step: Annotated[str | None, Text("Step that runs now. Null if none does.")]
    fence: Annotated[
        Int64, Text("Fencing number of the worker. Brokers refuse requests with a lower number.")
    ]
    renewed_at: Annotated[datetime, Text("Time when the worker last renewed the lease.")]
    ends_at: Annotated[
        datetime, Text("Time when the lease ends. Another worker may take over the operation then.")
    ]


@dataclass(frozen=True, slots=True)
class QueueExplanationOut:
    """Why a group does not read a queue, or that it does; `is_paused` is null if it is unknown."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    cause: Annotated[Cause, Text("Why the group does not read the queue, or that it does.")]
    is_paused: Annotated[
        bool | None,
        Text("Whether the group is kept from reading the queue. Null if it is unknown."),
    ]
    sentence: Annotated[str, Text("The cause in words.")]
    evidence: Annotated[list[str], Text("Facts that the cause follows from.")]
    lag: Annotated[Int64 | None, LAG]

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
    """The queues of a topic as one group reads them, the paused queues first."""

    queues: Annotated[
        list[QueueExplanationOut], Text("Queues of the topic, the paused ones first.")
    ]
    observed_at: Annotated[datetime, OBSERVED_AT]

    @classmethod
    def of(cls, found: Explanations) -> Self:
        """Show all explanations."""
        return cls([QueueExplanationOut.of(one) for one in found.queues], found.observed_at)
