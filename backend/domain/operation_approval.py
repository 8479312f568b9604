"""Decide when a second person must agree to an operation, and what their word makes of it.

A confirmed operation that needs one waits, with its plan's facts, until another user than who has
confirmed it approves or declines; until then no worker hears of it (console-and-cli.md 1.2).
"""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import Forbidden
from backend.domain.operation import Operation, OperationState, check_reason, end, move
from backend.domain.operation_errors import PlanExpired
from backend.domain.plan import Check, CheckVerdict, Plan, Risk


class SecondPerson(StrEnum):
    """Name from which risk class on a second person must agree."""

    NONE = "none"
    LOSS = "R3"
    SERVICE = "R2"

    def is_needed_for(self, risk: Risk) -> bool:
        """Tell whether an operation of a risk class waits for somebody's approval."""
        return self is not SecondPerson.NONE and risk.value >= self.value


def announce_approval(plan: Plan, policy: SecondPerson) -> Plan:
    """Say in a plan that a second person must agree, for whoever reads it before confirming."""
    if not policy.is_needed_for(plan.risk):
        return plan
    why = "after the confirmation, another user must approve it"
    announced = Check("second person", CheckVerdict.WARN, why)
    return replace(plan, checks=(*plan.checks, announced))


def approve(
    operation: Operation, reason: str | None, *, reviewed_by: str, at: datetime
) -> Operation:
    """Put an operation that waits for it into the queue.

    Raises:
        OperationStateConflict: it waits for nobody's approval.
        Forbidden: whoever has confirmed it approves.
        PlanExpired: nobody has approved it in time.
        ConfirmationMissing: the reason is no line of a reason's length.
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
    """End an operation that waits for an approval which somebody refuses to give.

    Raises:
        OperationStateConflict: it waits for nobody's approval.
        Forbidden: whoever has confirmed it declines; they cancel it.
        ConfirmationMissing: there is no reason, or it is too long.
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
