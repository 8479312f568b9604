"""Approve or decline an operation that another user has confirmed."""

from uuid import UUID

from backend.domain import operation_approval as domain
from backend.domain.operation import Author, Operation, OperationState
from backend.operations.engine.kind import Kinds, OperationContext
from backend.operations.engine.known_kinds import KINDS
from backend.operations.engine.orders import (
    Gated,
    change,
    check_risk,
    describe_operation,
    pass_gate,
)


async def approve_operation(
    operation_id: UUID,
    reason: str | None,
    author: Author,
    context: OperationContext,
    *,
    key: str | None = None,
    kinds: Kinds = KINDS,
) -> Operation:
    """Approve an operation that another user has confirmed, if its facts have not changed.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: the operation does not
        wait for an approval. PlanExpired: the time for the approval has passed. PreconditionMoved:
        a fact of the plan has changed. IdempotencyKeyReused: the key belongs to another request.
        Forbidden: the same user has confirmed it, or its risk class or cluster is out of reach.
    """
    now = context.clock.now()

    def approve(held: Operation) -> Operation:
        return domain.approve(held, reason, reviewed_by=author.name, at=now)

    become = Gated("approve", OperationState.AWAITING_APPROVAL, approve, now)
    return await pass_gate(become, operation_id, author, context, key=key, kinds=kinds)


async def decline_operation(
    operation_id: UUID,
    reason: str | None,
    author: Author,
    context: OperationContext,
    *,
    key: str | None = None,
) -> Operation:
    """Decline an operation that another user has confirmed and that waits for an approval.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: the operation does not
        wait for an approval. ConfirmationMissing: the reason is missing. Forbidden: the same user
        has confirmed it, or its risk class or cluster is out of reach.
    """
    now = context.clock.now()
    check_risk(await describe_operation(operation_id, context, within=author.clusters), author)

    def become(held: Operation) -> Operation:
        return domain.decline(held, reason, reviewed_by=author.name, at=now)

    return await change("decline", operation_id, become, author, context, key=key)
