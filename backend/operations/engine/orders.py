"""Serve the requests of operators: plan, confirm, pause, resume, cancel and retry an operation.

Every door calls only these functions. Each refuses (Forbidden) an operation of a cluster out of
reach. A repeated request with the same key returns the operation of the first, without a second
effect.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError

from backend.clients.task_queue import TaskQueueUnavailable
from backend.db import operations
from backend.db.operations import OperationFilter, OperationKey
from backend.domain import operation as domain
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.errors import DomainError, Forbidden
from backend.domain.operation import Author, Confirmation, Operation, OperationState
from backend.domain.operation_approval import announce_approval
from backend.domain.operation_errors import (
    IdempotencyKeyReused,
    InvalidParameters,
    PlanExpired,
    PreconditionMoved,
)
from backend.domain.page import Page, check_page_size, cut_page, search_text
from backend.domain.plan import find_moved, find_new_block
from backend.operations.engine import earlier_plans, journal, request_keys
from backend.operations.engine.kind import Kind, Kinds, OperationContext, OperationRequest
from backend.operations.engine.known_kinds import KINDS

KEY_LENGTH_MAX: Final = 200
DELIVERED_MAX: Final = 200

log = structlog.get_logger(__name__)


async def plan_operation(
    request: OperationRequest,
    author: Author,
    context: OperationContext,
    *,
    key: str | None = None,
    request_hash: bytes | None = None,
    kinds: Kinds = KINDS,
) -> Operation:
    """Plan an order: record its effect and its cost. The cluster does not change.

    `request_hash` identifies the request of the key if the request was not this plan.

    Raises:
        InvalidParameters: the kind is unknown, or has no such parameters. VersionMoved: the edited
        object has changed since the caller read it. Forbidden: the cluster is out of reach.
        IdempotencyKeyReused: the key belongs to another request. DomainError: the object to change
        does not exist.
    """
    kind = get_kind(request.kind, kinds)
    order = kind.read_order(request.parameters)
    author.clusters.require(order.cluster_name)
    request_hash = request_hash or request_keys.hash_request(
        "plan", request.kind, request.parameters, request.undoes
    )
    known = await request_keys.find_known(author, key, request_hash, context)
    if known is not None:
        return known
    order = await kind.settled(order, context)
    plan = await kind.make_plan(order, context, version=request.version)
    operation = domain.new_operation(
        uuid4(),
        kind.name,
        announce_approval(plan, context.second_person),
        cluster_name=order.cluster_name,
        target=order.target,
        parameters=msgspec.to_builtins(order),
        requested_by=author.name,
        at=context.clock.now(),
        undoes=request.undoes,
    )
    async with context.database.begin() as connection:
        await operations.add(connection, operation)
        if key is not None and not await request_keys.keep_key(
            connection, author, key, request_hash, operation.id, context.clock.now()
        ):
            await connection.rollback()
            held = None
        else:
            await journal.enter_plan(connection, operation, author, clock=context.clock)
            held = operation
    if held is None:
        held = await request_keys.find_known(author, key, request_hash, context)
        assert held is not None, "a key that is taken names an operation"
    return held


async def confirm_operation(
    operation_id: UUID,
    given: Confirmation,
    author: Author,
    context: OperationContext,
    *,
    key: str | None = None,
    kinds: Kinds = KINDS,
) -> Operation:
    """Confirm a plan, if its facts have not changed.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: the operation is no
        longer a plan. PlanExpired: the plan is too old. PreconditionMoved: a fact of the plan has
        changed. PlanBlocked: a check of the plan forbids it. ConfirmationMissing: the gate of its
        risk class needs more. IdempotencyKeyReused: the key belongs to another request. Forbidden:
        its risk class or its cluster is out of reach.
    """
    now = context.clock.now()

    def confirm(held: Operation) -> Operation:
        needs_approval = context.second_person.is_needed_for(held.plan.risk)
        return domain.confirm(
            held, given, confirmed_by=author.name, at=now, needs_approval=needs_approval
        )

    become = Gated("confirm", OperationState.PLANNED, confirm, now)
    return await pass_gate(become, operation_id, author, context, key=key, kinds=kinds)


async def pause_operation(
    operation_id: UUID, author: Author, context: OperationContext, *, key: str | None = None
) -> Operation:
    """Pause an operation after the present step.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: its state does not allow
        a pause.
    """
    return await change("pause", operation_id, domain.pause, author, context, key=key)


async def resume_operation(
    operation_id: UUID, author: Author, context: OperationContext, *, key: str | None = None
) -> Operation:
    """Resume a paused operation.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: it is not paused.
        Forbidden: its risk class or its cluster is out of reach.
    """
    now = context.clock.now()

    def resume(held: Operation) -> Operation:
        check_risk(held, author)
        return domain.resume(held, at=now)

    return await change("resume", operation_id, resume, author, context, key=key)


async def cancel_operation(
    operation_id: UUID, author: Author, context: OperationContext, *, key: str | None = None
) -> Operation:
    """Cancel an operation after the present step.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: it has ended.
    """
    now = context.clock.now()
    return await change(
        "cancel", operation_id, lambda held: domain.cancel(held, at=now), author, context, key=key
    )


async def retry_operation(
    operation_id: UUID, author: Author, context: OperationContext, *, key: str | None = None
) -> Operation:
    """Carry out the remaining steps of an operation that failed, or read the values back again.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: no step remains, or the
        operation must be planned again. Forbidden: its risk class or its cluster is out of reach.
    """
    now = context.clock.now()

    def retry(held: Operation) -> Operation:
        check_risk(held, author)
        needs_approval = context.second_person.is_needed_for(held.plan.risk)
        return domain.retry(held, at=now, needs_approval=needs_approval)

    return await change("retry", operation_id, retry, author, context, key=key)


async def describe_operation(
    operation_id: UUID, context: OperationContext, *, within: ClusterScope = EVERYWHERE
) -> Operation:
    """Return an operation as it is now.

    Raises:
        OperationNotFound: no operation has the id. Forbidden: its cluster is out of reach.
    """
    async with context.database.connect() as connection:
        found = await operations.get(connection, operation_id)
        within.require(found.cluster_name)
        return found


async def list_operations(
    *, size: int, after: OperationKey | None, chosen: OperationFilter, context: OperationContext
) -> Page[Operation, OperationKey]:
    """List operations, the newest first.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    kind = None if chosen.kind is None else search_text(chosen.kind)
    chosen = replace(chosen, kind=kind, search=search_text(chosen.search))
    async with context.database.connect() as connection:
        found = await operations.list_newest(connection, chosen=chosen, after=after, limit=size + 1)
        total = await operations.count(connection, chosen=chosen)
    return cut_page(found, size=size, key=lambda one: (one.planned_at, one.id), total_count=total)


async def find_void(
    operation: Operation, context: OperationContext, kinds: Kinds
) -> PreconditionMoved | None:
    """Read the facts again, and find the first that has changed, or a check that forbids the plan.

    Values that only the preview shows are not read, since they do not expire a plan.
    """
    kind = get_kind(operation.kind, kinds)
    planned = earlier_plans.facts_of(operation)
    try:
        now = await kind.facts(kind.read_order(operation.parameters), context)
    except DomainError as error:
        first = planned[0] if planned else None
        return PreconditionMoved(
            first.name if first else operation.target,
            expected=first.value if first else "there",
            found=f"unknown: {error}",
        )
    return find_moved(planned, now.preconditions) or find_new_block(operation.plan, now.checks)


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """Count the messages sent."""

    sent_count: int


async def deliver(context: OperationContext) -> DeliveryOutcome:
    """Send the due messages to workers, also if a message or a worker was lost (D20).

    An unavailable task queue only delays the messages.
    """
    async with context.database.begin() as connection:
        due = await operations.take_due(
            connection,
            at=context.clock.now(),
            again_after=journal.RESEND_AFTER,
            limit=DELIVERED_MAX,
        )
    sent_count = 0
    for entry in due:
        try:
            await context.task_queue.send(entry.task_name, str(entry.operation_id))
        except TaskQueueUnavailable as error:
            log.warning("operation_delayed", reason=str(error), waiting_count=len(due))
            break
        sent_count += 1
    return DeliveryOutcome(sent_count)


async def deliver_now(context: OperationContext) -> None:
    """Send the messages to workers after a change. If this fails, the change remains valid."""
    try:
        await deliver(context)
    except (SQLAlchemyError, OSError, TimeoutError) as error:
        # The message is committed too, and the next reconciliation sends it.
        log.warning("operation_delayed", reason=str(error))


@dataclass(frozen=True, slots=True)
class Gated:
    """Hold the transition of an operation from a state, if the facts of its plan are unchanged."""

    verb: str
    origin: OperationState
    become: Callable[[Operation], Operation]
    at: datetime


async def pass_gate(
    gated: Gated,
    operation_id: UUID,
    author: Author,
    context: OperationContext,
    *,
    key: str | None,
    kinds: Kinds,
) -> Operation:
    """Compare the facts of the plan; carry out the transition, or expire the plan with a reason."""
    seen = await describe_operation(operation_id, context, within=author.clusters)
    check_risk(seen, author)
    void: PreconditionMoved | PlanExpired | None = None
    if seen.state is gated.origin:
        if gated.at >= seen.expires_at:
            void = PlanExpired(operation_id, seen.expires_at)
        else:
            void = await find_void(seen, context, kinds)

    def become(held: Operation) -> Operation:
        if void is not None and held.state is gated.origin:
            return domain.lapse(held, str(void), at=gated.at)
        return gated.become(held)

    passed = await change(gated.verb, operation_id, become, author, context, key=key)
    if passed.state is OperationState.LAPSED and void is not None:
        raise void
    return passed


def check_risk(operation: Operation, author: Author) -> None:
    """Refuse a user who may not decide on operations of a risk class.

    Raises:
        Forbidden: the risk class needs an administrator.
    """
    risk = operation.plan.risk
    if risk > author.risk_max:
        raise Forbidden(
            f"an operation of class {risk} may lose data: an admin confirms it, and has it go on"
        )


async def change(
    verb: str,
    operation_id: UUID,
    become: Callable[[Operation], Operation],
    author: Author,
    context: OperationContext,
    *,
    key: str | None,
) -> Operation:
    """Change an operation, and send a message to workers if one is needed.

    Raises:
        OperationNotFound: no operation has the id. IdempotencyKeyReused: the key belongs to another
        request. Forbidden: its cluster is out of reach. DomainError: an error of `become`; nothing
        has changed.
    """
    request_hash = request_keys.hash_request(verb, operation_id)
    async with context.database.begin() as connection:
        before = await operations.lock(connection, operation_id)
        author.clusters.require(before.cluster_name)
        if key is not None:
            known = await request_keys.find_id(connection, author, key, request_hash)
            if known is not None:
                return before
        after = become(before)
        if key is not None and after.state is not OperationState.LAPSED:
            is_kept = await request_keys.keep_key(
                connection, author, key, request_hash, operation_id, context.clock.now()
            )
            if not is_kept:
                # The same request would have waited for the row, and then found the key.
                raise IdempotencyKeyReused(key)
        await journal.write(connection, before, after, author, clock=context.clock)
    if after.state is OperationState.QUEUED:
        await deliver_now(context)
    return after


def get_kind(name: str, kinds: Kinds) -> Kind:
    """Return the kind of this name.

    Raises:
        InvalidParameters: there is no such kind.
    """
    found = kinds.get(name)
    if found is None:
        raise InvalidParameters(name[:100], f"no such kind of operation: {', '.join(kinds)}")
    return found
