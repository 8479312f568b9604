"""Present who holds queues in order, who leads groups, and why queues stand still."""

from datetime import datetime
from typing import Self
from uuid import UUID

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import Connection, PageInfo, connect
from backend.api.graphql.scalars import Int64, int64
from backend.domain import queue_lock as domain
from backend.domain import queue_pause as pause_domain
from backend.domain import replica_group as group_domain
from backend.domain.names import check_cluster_name
from backend.services import queue_locks, queue_pauses
from backend.services.operations import leases

LockHolder = strawberry.enum(domain.Holder, name="LockHolder", description=None)
PauseCause = strawberry.enum(pause_domain.Cause, name="PauseCause", description=None)


@strawberry.type
class QueueLock:
    """Present who holds a queue in order; ages in milliseconds by the clock of its broker.

    `heardMs` is since the holder's last heartbeat, null when it is not connected.
    """

    cluster_name: str
    consumer_group: str
    topic: str
    group_name: str
    queue_id: int
    broker_address: str
    client_id: str
    holder: domain.Holder
    held_ms: Int64
    renewed_ms: Int64
    expires_in_ms: Int64
    heard_ms: Int64 | None

    @classmethod
    def of(cls, lock: domain.QueueLock) -> Self:
        """Present a lock."""
        broker, held = lock.broker, lock.held
        return cls(
            cluster_name=broker.cluster_name,
            consumer_group=held.consumer_group,
            topic=held.topic,
            group_name=broker.group_name,
            queue_id=held.queue_id,
            broker_address=broker.address,
            client_id=held.client_id,
            holder=lock.holder,
            held_ms=Int64(held.held_ms),
            renewed_ms=Int64(held.idle_ms),
            expires_in_ms=Int64(held.expires_in_ms),
            heard_ms=int64(held.heard_ms),
        )


@strawberry.type
class UnknownLocks:
    """Present a broker whose locks, or some of them, are not known, and why."""

    cluster_name: str
    group_name: str
    broker_id: Int64
    address: str
    why: str

    @classmethod
    def of(cls, unknown: queue_locks.UnknownLocks) -> Self:
        """Present a broker that did not tell."""
        broker = unknown.broker
        return cls(
            cluster_name=broker.cluster_name,
            group_name=broker.group_name,
            broker_id=Int64(broker.broker_id),
            address=broker.address,
            why=unknown.why,
        )


@strawberry.type
class QueueLocks:
    """Present one page of locks, and the brokers that did not tell theirs."""

    nodes: list[QueueLock]
    page_info: PageInfo
    total_count: int
    unknown: list[UnknownLocks]
    observed_at: datetime


@strawberry.type
class Lease:
    """Present who leads a group, and until when it may acknowledge alone; null is no lease."""

    cluster_name: str
    group_name: str
    master_id: Int64 | None
    master_address: str | None
    master_epoch: int
    policy: group_domain.LeasePolicy
    is_master_alive: bool
    ends_at: datetime | None

    @classmethod
    def of(cls, lease: domain.Lease) -> Self:
        """Present a lease."""
        return cls(
            cluster_name=lease.cluster_name,
            group_name=lease.group_name,
            master_id=int64(lease.master_id),
            master_address=lease.master_address,
            master_epoch=lease.master_epoch,
            policy=lease.policy,
            is_master_alive=lease.is_master_alive,
            ends_at=lease.ends_at,
        )


@strawberry.type
class OperationLease:
    """Present which operation a worker is at, under which number, and when it was heard last.

    One whose lease has ended is gone; the next takes the operation over.
    """

    operation_id: strawberry.ID
    cluster_name: str
    kind: str
    target: str
    confirmed_by: str | None
    step: str | None
    fence: Int64
    renewed_at: datetime
    ends_at: datetime

    @classmethod
    def of(cls, lease: leases.OperationLease) -> Self:
        """Present a lease."""
        return cls(
            operation_id=strawberry.ID(str(lease.operation_id)),
            cluster_name=lease.cluster_name,
            kind=lease.kind,
            target=lease.target,
            confirmed_by=lease.confirmed_by,
            step=lease.step,
            fence=Int64(lease.fence),
            renewed_at=lease.renewed_at,
            ends_at=lease.ends_at,
        )


@strawberry.type
class QueueExplanation:
    """Present why a queue is not read by a group, or that it is; `isPaused` null is unknown."""

    group_name: str
    queue_id: int
    cause: pause_domain.Cause
    is_paused: bool | None
    sentence: str
    evidence: list[str]
    lag: Int64 | None

    @classmethod
    def of(cls, found: pause_domain.Explanation) -> Self:
        """Present an explanation."""
        return cls(
            group_name=found.facts.group_name,
            queue_id=found.facts.queue_id,
            cause=found.cause,
            is_paused=found.is_paused,
            sentence=found.sentence,
            evidence=[*found.evidence],
            lag=int64(found.facts.lag),
        )


@strawberry.input
class LockFilter:
    """Say which locks are meant: each fact that is given must be so."""

    cluster_name: str | None = None
    consumer_group: str | None = None
    topic: str | None = None
    group_name: str | None = None
    queue_id: int | None = None
    client_id: str | None = None
    holder: domain.Holder | None = None


@strawberry.type
class LockQuery:
    """Ask for locks and leases, and why queues stand still."""

    @strawberry.field
    async def locks(
        self,
        info: Info,
        first: int = 100,
        after: str | None = None,
        chosen: LockFilter | None = None,
    ) -> QueueLocks:
        """List the locks of ordered queues, as brokers tell them now."""
        api = info.context.api
        found = await queue_locks.list_locks(
            domain.LockFilter(
                **({} if chosen is None else vars(chosen)), within=info.context.within
            ),
            size=first,
            after=decode_cursor(after, tuple[str, str, str, str, int, str]),
            database=api.database,
            brokers=api.brokers,
            clock=api.clock,
        )
        page = connect(found.page, QueueLock.of)
        return QueueLocks(
            nodes=page.nodes,
            page_info=page.page_info,
            total_count=page.total_count,
            unknown=[UnknownLocks.of(one) for one in found.unknown],
            observed_at=found.observed_at,
        )

    @strawberry.field
    async def leases(
        self, info: Info, cluster_name: str, first: int = 100, after: str | None = None
    ) -> Connection[Lease]:
        """List who leads the groups of a cluster under a controller, and until when."""
        pages = await queue_locks.list_leases(
            [check_cluster_name(cluster_name)],
            size=first,
            after=decode_cursor(after, str),
            controller=info.context.api.name_server.controller,
        )
        return connect(pages[cluster_name], Lease.of)

    @strawberry.field
    async def operation_leases(
        self, info: Info, cluster_name: str, first: int = 100, after: str | None = None
    ) -> Connection[OperationLease]:
        """List the operations of a cluster that workers hold, the newest first."""
        page = await leases.list_operation_leases(
            cluster_name,
            size=first,
            after=decode_cursor(after, tuple[datetime, UUID]),
            context=info.context.api.operations,
        )
        return connect(page, OperationLease.of)

    @strawberry.field
    async def queue_explanations(
        self,
        info: Info,
        cluster_name: str,
        topic_name: str,
        consumer_group: str,
        group_name: str | None = None,
        queue_id: int | None = None,
    ) -> list[QueueExplanation]:
        """Say of each queue in a sentence why a group does not read it; the paused come first."""
        api = info.context.api
        asked = queue_pauses.QueuesAsked(
            cluster_name, topic_name, consumer_group, group_name, queue_id
        )
        found = await queue_pauses.explain_queues(
            asked, database=api.database, brokers=api.brokers, clock=api.clock
        )
        return [QueueExplanation.of(one) for one in found.queues]
