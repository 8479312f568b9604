"""Say what may follow where an operation stands, by the very functions that do it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from backend.domain import operation as domain
from backend.domain.operation import Operation, OperationState
from backend.domain.operation_approval import SecondPerson
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
        *domain.RETRYABLE,
    }
)
"""No worker is at these, nor has one reached what was wanted: what is left may be planned anew."""


def list_actions(operation: Operation, second_person: SecondPerson) -> tuple[Action, ...]:
    """List what may follow; whether an undo is possible is also for its kind to say.

    It is what some user may do: from which risk class on somebody may not is for their role to say.
    """
    at, needs_approval = operation.planned_at, second_person.is_needed_for(operation.plan.risk)
    changes: dict[Action, Callable[[], Operation]] = {
        Action.PAUSE: lambda: domain.pause(operation),
        Action.RESUME: lambda: domain.resume(operation, at=at),
        Action.CANCEL: lambda: domain.cancel(operation, at=at),
        Action.RETRY: lambda: domain.retry(operation, at=at, needs_approval=needs_approval),
    }
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
        or (action in changes and _would_change(operation, changes[action]))
    )


def check_replannable(operation: Operation) -> None:
    """Refuse to plan once more what is at work, or has been carried out.

    Raises:
        OperationStateConflict: it stands so.
    """
    if operation.state not in REPLANNABLE:
        raise OperationStateConflict(operation.id, operation.state, "planned again")


def _would_change(operation: Operation, change: Callable[[], Operation]) -> bool:
    try:
        return change() != operation
    except OperationStateConflict:
        return False
