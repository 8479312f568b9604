"""List what is done with an operation without saying more; both doors are made from it (D19)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from backend.domain.operation import Operation
from backend.operations.engine import following, orders


@dataclass(frozen=True, slots=True)
class Verb:
    """Name the verb of a path, the mutation, and the use case; `help` is in the OpenAPI document.

    `endpoint` is what REST calls it, where that is not what the mutation is called.
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
        "Hold an operation after the step at work.",
    ),
    Verb("resume", "resume_operation", orders.resume_operation, "Let a paused operation go on."),
    Verb(
        "cancel",
        "cancel_operation",
        orders.cancel_operation,
        "End an operation after the step at work.",
    ),
    Verb(
        "retry",
        "retry_operation",
        orders.retry_operation,
        "Carry out what is left of an operation that did not end well, or read back again.",
    ),
    Verb(
        "undo",
        "undo_operation",
        following.undo_operation,
        "Plan the operation that takes this one back; it is confirmed like any.",
        HTTPStatus.CREATED,
    ),
    Verb(
        "replan",
        "replan_operation",
        following.replan_operation,
        "Plan the same once more, from the facts as they are now.",
        HTTPStatus.CREATED,
        endpoint="plan_again",
    ),
)
