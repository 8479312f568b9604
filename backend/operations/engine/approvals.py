"""Take the second person's word on what another has confirmed: approved, or declined."""

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
    """Have carried out what another user has confirmed, if all is still as it was planned from.

    Raises:
        OperationNotFound: none has the id.
        OperationStateConflict: it waits for nobody's approval.
        PlanExpired: nobody has approved it in time.
        PreconditionMoved: a fact that it was made from is another by now.
        IdempotencyKeyReused: the key belongs to another request.
        Forbidden: they have confirmed it, or its risk class or its cluster is out of their reach.
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
    """End what another user has confirmed and waits for approval.

    Raises:
        OperationNotFound: none has the id.
        OperationStateConflict: it waits for nobody's approval.
        ConfirmationMissing: there is no reason.
        Forbidden: they have confirmed it, or its risk class or its cluster is out of their reach.
    """
    now = context.clock.now()
    check_risk(await describe_operation(operation_id, context, within=author.clusters), author)

    def become(held: Operation) -> Operation:
        return domain.decline(held, reason, reviewed_by=author.name, at=now)

    return await change("decline", operation_id, become, author, context, key=key)
