"""Say what may follow an operation as it stands, and plan the same once more."""

from dataclasses import dataclass
from uuid import UUID

from backend.domain.cluster_scope import ClusterScope
from backend.domain.operation import UNCHANGED_PLANS, Author, Operation
from backend.domain.operation_actions import Action, check_replannable, list_actions
from backend.domain.operation_errors import (
    InvalidParameters,
    NotUndoable,
    PreconditionMoved,
)
from backend.services.operations.kind import Kinds, OperationContext, OperationRequest
from backend.services.operations.kinds import KINDS
from backend.services.operations.orders import describe_operation, find_void, plan_operation


@dataclass(frozen=True, slots=True)
class Following:
    """Hold what an operator may do now, and why an end that was reached can't be taken back."""

    actions: tuple[Action, ...]
    why_not_undo: str | None = None


def find_following(operation: Operation, *, kinds: Kinds = KINDS) -> Following:
    """Find what may follow an operation."""
    actions = list_actions(operation)
    if Action.UNDO not in actions:
        return Following(actions)
    others = tuple(action for action in actions if action is not Action.UNDO)
    kind = kinds.get(operation.kind)
    if kind is None:
        return Following(others, f"operations of the kind {operation.kind} are no longer known")
    try:
        kind.undo(kind.read_order(operation.parameters), operation)
    except NotUndoable as error:
        return Following(others, error.reason)
    except InvalidParameters as error:
        # Ordered when its kind had other parameters.
        return Following(others, str(error))
    return Following(actions)


async def find_moved_fact(
    operation_id: UUID, context: OperationContext, *, within: ClusterScope, kinds: Kinds = KINDS
) -> PreconditionMoved | None:
    """Find the first fact of a plan that is another by now; None for what is no plan any more.

    Raises:
        OperationNotFound: none has the id.
        Forbidden: it is of a cluster out of reach.
    """
    operation = await describe_operation(operation_id, context, within=within)
    if operation.state not in UNCHANGED_PLANS:
        return None
    return await find_void(operation, context, kinds)


async def replan_operation(
    operation_id: UUID,
    author: Author,
    context: OperationContext,
    *,
    key: str | None = None,
    kinds: Kinds = KINDS,
) -> Operation:
    """Plan the same order once more, from the facts as they are now.

    Raises:
        OperationNotFound: none has the id.
        OperationStateConflict: it is at work, or has changed something.
        Forbidden: its cluster is out of their reach.
        IdempotencyKeyReused: the key stands for another request.
        DomainError: what is to be changed is not there any more.
    """
    operation = await describe_operation(operation_id, context, within=author.clusters)
    check_replannable(operation)
    request = OperationRequest(operation.kind, operation.parameters, undoes=operation.undoes)
    return await plan_operation(request, author, context, key=key, kinds=kinds)
