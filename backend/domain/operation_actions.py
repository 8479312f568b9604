"""List the possible actions of an operation, with the functions that carry them out."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from backend.domain import operation as domain
from backend.domain.operation import Operation, OperationState
from backend.domain.operation_approval import SecondPerson
from backend.domain.operation_errors import OperationStateConflict


class Action(StrEnum):
    """Name the actions of an operator on an operation."""

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
"""No worker holds these, and they did not reach their goal: the rest can be planned again."""


def list_actions(operation: Operation, second_person: SecondPerson) -> tuple[Action, ...]:
    """List the possible actions; whether an undo is possible also depends on the kind.

    These are the actions of any user. The role of a user decides about the risk class.
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
    """Refuse to plan an operation again that is running, or has been carried out.

    Raises:
        OperationStateConflict: the operation is in such a state.
    """
    if operation.state not in REPLANNABLE:
        raise OperationStateConflict(operation.id, operation.state, "planned again")


def _would_change(operation: Operation, change: Callable[[], Operation]) -> bool:
    try:
        return change() != operation
    except OperationStateConflict:
        return False
