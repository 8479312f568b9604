"""Answer over REST who holds queues in order, who leads groups, and why queues stand still."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from backend.api.context import Context, Within
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.domain.names import check_cluster_name
from backend.domain.queue_lock import Holder, Lease, LockFilter, QueueLock
from backend.domain.queue_pause import Cause, Explanation
from backend.domain.replica_group import LeasePolicy
from backend.services.operations.leases import list_operation_leases
from backend.services.queue_locks import UnknownLocks, list_leases, list_locks
from backend.services.queue_pauses import QueuesAsked, explain_queues

router = APIRouter(tags=["locks"])

NAME_LENGTH_MAX = 300
Name = Annotated[str | None, Query(max_length=NAME_LENGTH_MAX)]
QueueId = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


class QueueLockOut(BaseModel):
    """Who holds a queue in order; ages in milliseconds by the clock of its broker.

    `heard_ms` is since the holder's last heartbeat, null when it is not connected.
    """

    cluster_name: str
    consumer_group: str
    topic: str
    group_name: str
    queue_id: int
    broker_address: str
    client_id: str
    holder: Holder
    held_ms: int
    renewed_ms: int
    expires_in_ms: int
    heard_ms: int | None


class UnknownLocksOut(BaseModel):
    """A broker whose locks, or some of them, are not known, and why."""

    cluster_name: str
    group_name: str
    broker_id: int
    address: str
    why: str


class LocksOut(PageOut[QueueLockOut]):
    """One page of locks, and the brokers that did not tell theirs."""

    unknown: list[UnknownLocksOut]
    observed_at: datetime


class LeaseOut(BaseModel):
    """Who leads a group, and until when it may acknowledge alone; null is no lease that runs."""

    model_config = ConfigDict(from_attributes=True)

    cluster_name: str
    group_name: str
    master_id: int | None
    master_address: str | None
    master_epoch: int
    policy: LeasePolicy
    is_master_alive: bool
    ends_at: datetime | None


class OperationLeaseOut(BaseModel):
    """Which operation a worker is at: `fence` is its number, `renewed_at` when it was heard last.

    One whose lease has ended is gone; the next takes the operation over.
    """

    model_config = ConfigDict(from_attributes=True)

    operation_id: UUID
    cluster_name: str
    kind: str
    target: str
    confirmed_by: str | None
    step: str | None
    fence: int
    renewed_at: datetime
    ends_at: datetime


class QueueExplanationOut(BaseModel):
    """Why a queue is not read by a group, or that it is; `is_paused` is null when nobody knows."""

    group_name: str
    queue_id: int
    cause: Cause
    is_paused: bool | None
    sentence: str
    evidence: list[str]
    lag: int | None


class ExplanationsOut(BaseModel):
    """The queues of a topic as one group reads them, those that stand still first."""

    queues: list[QueueExplanationOut]
    observed_at: datetime


@router.get("/locks", responses=COMMON)
@reaches(Reach.KEPT)
async def show_locks(
    context: Context,
    within: Within,
    limit: Limit = 100,
    after: After = None,
    cluster_name: Name = None,
    consumer_group: Name = None,
    topic: Name = None,
    group_name: Name = None,
    queue_id: QueueId = None,
    client_id: Name = None,
    holder: Holder | None = None,
) -> LocksOut:
    """List the locks of ordered queues, as brokers tell them now."""
    chosen = LockFilter(
        cluster_name, consumer_group, topic, group_name, queue_id, client_id, holder, within
    )
    found = await list_locks(
        chosen,
        size=limit,
        after=decode_cursor(after, tuple[str, str, str, str, int, str]),
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    page = page_out(found.page, _lock_out)
    return LocksOut(
        items=page.items,
        next=page.next,
        total_count=page.total_count,
        unknown=[_unknown_out(one) for one in found.unknown],
        observed_at=found.observed_at,
    )


@router.get("/clusters/{cluster_name}/leases", responses=NOT_FOUND)
async def show_leases(
    cluster_name: str, context: Context, limit: Limit = 100, after: After = None
) -> PageOut[LeaseOut]:
    """List who leads the groups of a cluster under a controller, and until when."""
    pages = await list_leases(
        [check_cluster_name(cluster_name)],
        size=limit,
        after=decode_cursor(after, str),
        controller=context.name_server.controller,
    )
    return page_out(pages[cluster_name], _lease_out)


@router.get("/clusters/{cluster_name}/operation-leases", responses=COMMON)
async def show_operation_leases(
    cluster_name: str, context: Context, limit: Limit = 100, after: After = None
) -> PageOut[OperationLeaseOut]:
    """List the operations of a cluster that workers hold, the newest first."""
    page = await list_operation_leases(
        cluster_name,
        size=limit,
        after=decode_cursor(after, tuple[datetime, UUID]),
        context=context.operations,
    )
    return page_out(page, OperationLeaseOut.model_validate)


@router.get("/clusters/{cluster_name}/topics/{topic_name}/pauses", responses=NOT_FOUND)
async def explain_pauses(
    cluster_name: str,
    topic_name: str,
    context: Context,
    consumer_group: Annotated[str, Query(min_length=1, max_length=NAME_LENGTH_MAX)],
    group_name: Name = None,
    queue_id: QueueId = None,
) -> ExplanationsOut:
    """Say of each queue in a sentence why a consumer group does not read it, or that it does."""
    asked = QueuesAsked(cluster_name, topic_name, consumer_group, group_name, queue_id)
    found = await explain_queues(
        asked, database=context.database, brokers=context.brokers, clock=context.clock
    )
    return ExplanationsOut(
        queues=[_explanation_out(one) for one in found.queues], observed_at=found.observed_at
    )


def _lock_out(lock: QueueLock) -> QueueLockOut:
    broker, held = lock.broker, lock.held
    return QueueLockOut(
        cluster_name=broker.cluster_name,
        consumer_group=held.consumer_group,
        topic=held.topic,
        group_name=broker.group_name,
        queue_id=held.queue_id,
        broker_address=broker.address,
        client_id=held.client_id,
        holder=lock.holder,
        held_ms=held.held_ms,
        renewed_ms=held.idle_ms,
        expires_in_ms=held.expires_in_ms,
        heard_ms=held.heard_ms,
    )


def _unknown_out(unknown: UnknownLocks) -> UnknownLocksOut:
    broker = unknown.broker
    return UnknownLocksOut(
        cluster_name=broker.cluster_name,
        group_name=broker.group_name,
        broker_id=broker.broker_id,
        address=broker.address,
        why=unknown.why,
    )


def _lease_out(lease: Lease) -> LeaseOut:
    return LeaseOut.model_validate(lease)


def _explanation_out(found: Explanation) -> QueueExplanationOut:
    facts = found.facts
    return QueueExplanationOut(
        group_name=facts.group_name,
        queue_id=facts.queue_id,
        cause=found.cause,
        is_paused=found.is_paused,
        sentence=found.sentence,
        evidence=list(found.evidence),
        lag=facts.lag,
    )
