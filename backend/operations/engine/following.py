"""Say what may follow an operation as it stands; plan what takes it back, or the same once more."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from backend.domain.cluster_scope import ClusterScope
from backend.domain.operation import UNCHANGED_PLANS, UNDOABLE, Author, Operation
from backend.domain.operation_actions import Action, check_replannable, list_actions
from backend.domain.operation_errors import (
    InvalidParameters,
    NotUndoable,
    OperationStateConflict,
    PreconditionMoved,
)
from backend.operations.engine import request_keys, steps
from backend.operations.engine.kind import Kinds, OperationContext, OperationRequest
from backend.operations.engine.known_kinds import KINDS
from backend.operations.engine.orders import describe_operation, find_void, get_kind, plan_operation


@dataclass(frozen=True, slots=True)
class Following:
    """Hold what an operator may do now, and why an end that was reached can't be taken back."""

    actions: tuple[Action, ...]
    why_not_undo: str | None = None


def find_following(
    operation: Operation, context: OperationContext, *, kinds: Kinds = KINDS
) -> Following:
    """Find what may follow an operation."""
    actions = list_actions(operation, context.second_person)
    if Action.UNDO not in actions:
        return Following(actions)
    others = tuple(action for action in actions if action is not Action.UNDO)
    kind = kinds.get(operation.kind)
    if kind is None:
        return Following(others, f"operations of the kind {operation.kind} are no longer known")
    try:
        steps.take_back(operation, steps.read_actions(operation, kind))
    except NotUndoable as error:
        return Following(others, error.reason)
    except InvalidParameters as error:
        # Planned by a version whose actions are not known here.
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


async def undo_operation(
    operation_id: UUID,
    author: Author,
    context: OperationContext,
    *,
    key: str | None = None,
    kinds: Kinds = KINDS,
) -> Operation:
    """Plan the operation that takes another one back; it is confirmed like any.

    Raises:
        OperationNotFound: none has the id.
        OperationStateConflict: there is nothing to take back.
        NotUndoable: its kind, or what it did, can't be taken back.
        Forbidden: its cluster is out of their reach.
        IdempotencyKeyReused: the key belongs to another request.
    """

    def take_back(operation: Operation) -> OperationRequest:
        if operation.state not in UNDOABLE:
            raise OperationStateConflict(operation_id, operation.state, "undone")
        kind = get_kind(operation.kind, kinds)
        opposite = steps.take_back(operation, steps.read_actions(operation, kind))
        return replace(opposite, undoes=operation_id)

    return await _plan_from(operation_id, "undo", take_back, author, context, key=key, kinds=kinds)


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
        OperationStateConflict: it is at work, or has been carried out.
        Forbidden: its cluster is out of their reach.
        IdempotencyKeyReused: the key belongs to another request.
        DomainError: what is to be changed is not there any more.
    """

    def repeat(operation: Operation) -> OperationRequest:
        check_replannable(operation)
        return OperationRequest(operation.kind, operation.parameters, undoes=operation.undoes)

    return await _plan_from(operation_id, "replan", repeat, author, context, key=key, kinds=kinds)


async def _plan_from(
    operation_id: UUID,
    verb: str,
    make_request: Callable[[Operation], OperationRequest],
    author: Author,
    context: OperationContext,
    *,
    key: str | None,
    kinds: Kinds,
) -> Operation:
    """Plan what is made of an operation, unless the same was asked for before under the key.

    The key is looked up first: what was planned under it may have been carried out since, and what
    it was made of stand where nothing can be made of it any more.
    """
    operation = await describe_operation(operation_id, context, within=author.clusters)
    request_hash = request_keys.hash_request(verb, operation_id)
    known = await request_keys.find_known(author, key, request_hash, context)
    if known is not None:
        return known
    request = make_request(operation)
    return await plan_operation(
        request, author, context, key=key, request_hash=request_hash, kinds=kinds
    )
