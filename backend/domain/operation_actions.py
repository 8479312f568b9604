"""Say what may follow where an operation stands, by the very functions that do it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from backend.domain import operation as domain
from backend.domain.operation import Operation, OperationState
from backend.domain.operation_errors import OperationStateConflict


class Action(StrEnum):
    """Name what an operator may do to an operation."""

    CONFIRM = "confirm"
    APPROVE = "approve"
    DECLINE = "decline"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    RETRY = "retry"
    UNDO = "undo"
    REPLAN = "replan"


REPLANNABLE: Final = frozenset(
    {
        OperationState.PLANNED,
        OperationState.LAPSED,
        OperationState.CANCELLED,
        OperationState.FAILED,
    }
)
"""Nothing of these has changed the cluster, so that the same order may be planned once more."""

_CHANGES: Final[Mapping[Action, Callable[[Operation, datetime], Operation]]] = {
    Action.PAUSE: lambda operation, _at: domain.pause(operation),
    Action.RESUME: lambda operation, at: domain.resume(operation, at=at),
    Action.CANCEL: lambda operation, at: domain.cancel(operation, at=at),
    Action.RETRY: lambda operation, at: domain.retry(operation, at=at),
}


def list_actions(operation: Operation) -> tuple[Action, ...]:
    """List what may follow; whether an undo is possible is also for its kind to say."""
    is_planned = operation.state is OperationState.PLANNED
    allowed = {
        Action.CONFIRM: is_planned and operation.plan.block is None,
        Action.APPROVE: operation.state is OperationState.AWAITING_APPROVAL,
        Action.DECLINE: operation.state is OperationState.AWAITING_APPROVAL,
        Action.UNDO: operation.state in domain.UNDOABLE,
        Action.REPLAN: operation.state in REPLANNABLE,
    }
    return tuple(
        action
        for action in Action
        if allowed.get(action, False)
        or (action in _CHANGES and _would_change(operation, _CHANGES[action]))
    )


def check_replannable(operation: Operation) -> None:
    """Refuse to plan once more what is at work, or has changed something.

    Raises:
        OperationStateConflict: it stands so.
    """
    if operation.state not in REPLANNABLE:
        raise OperationStateConflict(operation.id, operation.state, "planned again")


def _would_change(operation: Operation, change: Callable[[Operation, datetime], Operation]) -> bool:
    try:
        return change(operation, operation.planned_at) != operation
    except OperationStateConflict:
        return False
