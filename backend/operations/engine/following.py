"""List the possible actions of an operation; plan its undo, or the same order again."""

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
    """Hold the possible actions of an operator, and why the operation can't be undone."""

    actions: tuple[Action, ...]
    why_not_undo: str | None = None


def find_following(
    operation: Operation, context: OperationContext, *, kinds: Kinds = KINDS
) -> Following:
    """Find the possible actions of an operation."""
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
        # Planned by a version with other actions.
        return Following(others, str(error))
    return Following(actions)


async def find_moved_fact(
    operation_id: UUID, context: OperationContext, *, within: ClusterScope, kinds: Kinds = KINDS
) -> PreconditionMoved | None:
    """Find the first fact of a plan that has changed; None if the operation is no longer a plan.

    Raises:
        OperationNotFound: no operation has the id. Forbidden: its cluster is out of reach.
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
    """Plan the operation that undoes another one. The plan needs a confirmation.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: there is nothing to
        undo. NotUndoable: its kind or its effect can't be undone. Forbidden: its cluster is out of
        reach. IdempotencyKeyReused: the key belongs to another request.
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
    """Plan the same order again, from the present facts.

    Raises:
        OperationNotFound: no operation has the id. OperationStateConflict: the operation is
        running, or has been carried out. Forbidden: its cluster is out of reach.
        IdempotencyKeyReused: the key belongs to another request. DomainError: the object to change
        no longer exists.
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
    """Plan an order that is made from an operation, unless the key belongs to an earlier request.

    The key is looked up first: the operation of the earlier request may have been carried out, and
    then no order can be made from the source operation any more.
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
