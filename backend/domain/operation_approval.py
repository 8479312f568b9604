"""Decide when a second person must approve an operation, and the effect of the answer.

A confirmed operation that needs an approval waits, with the facts of its plan, until another user
approves or declines it. Until then no worker receives it (console-and-cli.md 1.2).
"""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import Forbidden
from backend.domain.operation import Operation, OperationState, check_reason, end, move
from backend.domain.operation_errors import PlanExpired
from backend.domain.plan import Check, CheckVerdict, Plan, Risk


class SecondPerson(StrEnum):
    """Name the lowest risk class that needs a second person."""

    NONE = "none"
    LOSS = "R3"
    SERVICE = "R2"

    def is_needed_for(self, risk: Risk) -> bool:
        """Return whether an operation of a risk class needs an approval."""
        return self is not SecondPerson.NONE and risk.value >= self.value


def announce_approval(plan: Plan, policy: SecondPerson) -> Plan:
    """Add to a plan that a second person must approve, for readers before the confirmation."""
    if not policy.is_needed_for(plan.risk):
        return plan
    why = "after the confirmation, another user must approve it"
    announced = Check("second person", CheckVerdict.WARN, why)
    return replace(plan, checks=(*plan.checks, announced))


def approve(
    operation: Operation, reason: str | None, *, reviewed_by: str, at: datetime
) -> Operation:
    """Queue an operation that waits for an approval.

    Raises:
        OperationStateConflict: the operation does not wait for an approval. Forbidden: the same
        user has confirmed the operation. PlanExpired: the time for the approval has passed.
        ConfirmationMissing: the reason is too long, or has several lines.
    """
    awaiting = {OperationState.AWAITING_APPROVAL}
    queued = move(operation, OperationState.QUEUED, "approved", awaiting)
    _check_other(operation, reviewed_by)
    if at >= operation.expires_at:
        raise PlanExpired(operation.id, operation.expires_at)
    return replace(
        queued,
        reviewed_by=reviewed_by,
        review_reason=check_reason(reason, is_needed=False),
        not_before=at + operation.plan.gate.hold,
    )


def decline(
    operation: Operation, reason: str | None, *, reviewed_by: str, at: datetime
) -> Operation:
    """End an operation whose approval another user declines.

    Raises:
        OperationStateConflict: the operation does not wait for an approval. Forbidden: the same
        user has confirmed the operation, and can cancel it. ConfirmationMissing: the reason is
        missing or too long.
    """
    awaiting = {OperationState.AWAITING_APPROVAL}
    move(operation, OperationState.CANCELLED, "declined", awaiting)
    _check_other(operation, reviewed_by)
    why = check_reason(reason, is_needed=True)
    declined = end(operation, OperationState.CANCELLED, f"declined by {reviewed_by}: {why}", at)
    return replace(declined, reviewed_by=reviewed_by, review_reason=why)


def _check_other(operation: Operation, reviewed_by: str) -> None:
    if reviewed_by == operation.confirmed_by:
        raise Forbidden(
            "another user must review the operation; a token of the same user is refused too"
        )
