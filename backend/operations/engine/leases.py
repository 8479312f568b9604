"""List the operations that workers hold, and take one from its worker (console-and-cli.md 1.4.4).

A worker holds a running operation with a lease of some seconds, and renews it. A worker that hangs
may still renew it. Breaking the lease raises the fencing number, so later requests of that worker
are refused, and the next worker continues where the journal ends.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from backend.db import operations
from backend.db.operations import OperationFilter, OperationKey
from backend.domain import operation_run as domain
from backend.domain.names import check_cluster_name
from backend.domain.operation import Author, Operation, OperationState
from backend.domain.page import Page
from backend.operations.engine import journal
from backend.operations.engine.engine import LEASE
from backend.operations.engine.kind import OperationContext
from backend.operations.engine.orders import deliver_now, describe_operation, list_operations


@dataclass(frozen=True, slots=True)
class OperationLease:
    """Hold the operation of a worker, its fencing number, and the last renewal of its lease.

    If a lease has ended, its worker is lost, and the next worker takes the operation over.
    """

    operation_id: UUID
    cluster_name: str
    kind: str
    target: str
    confirmed_by: str | None
    step: str | None
    fence: int
    renewed_at: datetime
    ends_at: datetime


async def list_operation_leases(
    cluster_name: str, *, size: int, after: OperationKey | None, context: OperationContext
) -> Page[OperationLease, OperationKey]:
    """List the operations of a cluster that workers hold, the newest first.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    chosen = OperationFilter(check_cluster_name(cluster_name), OperationState.RUNNING)
    page = await list_operations(size=size, after=after, chosen=chosen, context=context)
    return page.map(_lease)


async def break_lease(operation_id: UUID, author: Author, context: OperationContext) -> Operation:
    """Take an operation from the worker that holds it.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: no worker holds the
        operation. Forbidden: its cluster is out of reach.
    """
    await describe_operation(operation_id, context, within=author.clusters)
    async with context.database.connect() as connection:
        floor = await operations.draw_fence(connection)
    freed = await journal.change(
        operation_id,
        lambda held: domain.break_lease(held, fence_floor=floor, at=context.clock.now()),
        author,
        database=context.database,
        clock=context.clock,
    )
    await deliver_now(context)
    return freed


def _lease(held: Operation) -> OperationLease:
    assert held.lease_until is not None, "a running operation has a lease"
    step = held.next_step
    return OperationLease(
        operation_id=held.id,
        cluster_name=held.cluster_name,
        kind=held.kind,
        target=held.target,
        confirmed_by=held.confirmed_by,
        step=None if step is None else step.title,
        fence=held.fence,
        renewed_at=held.lease_until - LEASE,
        ends_at=held.lease_until,
    )
