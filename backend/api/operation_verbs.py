"""List the verbs of operations without further parameters; both doors are made from them (D19)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from backend.domain.operation import Operation
from backend.operations.engine import following, orders


@dataclass(frozen=True, slots=True)
class Verb:
    """Hold the verb of a path, the mutation and the use case; `help` is the text in both doors.

    `endpoint` is the name in REST if it differs from that of the mutation.
    """

    name: str
    mutation: str
    act: Callable[..., Awaitable[Operation]]
    help: str
    status: int = HTTPStatus.OK
    endpoint: str | None = None


VERBS: Final = (
    Verb(
        "pause",
        "pause_operation",
        orders.pause_operation,
        "Pause an operation after the present step.",
    ),
    Verb("resume", "resume_operation", orders.resume_operation, "Resume a paused operation."),
    Verb(
        "cancel",
        "cancel_operation",
        orders.cancel_operation,
        "Cancel an operation after the present step.",
    ),
    Verb(
        "retry",
        "retry_operation",
        orders.retry_operation,
        "Carry out the remaining steps of an operation that failed, or read the values back again.",
    ),
    Verb(
        "undo",
        "undo_operation",
        following.undo_operation,
        "Plan the operation that undoes this one. The plan needs a confirmation.",
        HTTPStatus.CREATED,
    ),
    Verb(
        "replan",
        "replan_operation",
        following.replan_operation,
        "Plan the same order again, from the present facts.",
        HTTPStatus.CREATED,
        endpoint="plan_again",
    ),
)
