"""Decide the life of an operation: planned, confirmed, carried out in steps, ended (D19).

Plain values and functions: a function takes an operation and returns its next state, or refuses.
This module knows no kinds of operations, no clock, no table and no broker. Every claim of an
operation has a greater fencing number than the claim before, and a worker with an older number is
refused. So of two workers with one operation, only the later can change it (D20).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.operation_errors import (
    ConfirmationMissing,
    OperationStateConflict,
    PlanBlocked,
    PlanExpired,
)
from backend.domain.plan import Plan, ReadBack, Risk

PLAN_LIFETIME: Final = timedelta(minutes=10)
APPROVAL_LIFETIME: Final = timedelta(hours=24)
"""How long a second person has time to approve a confirmed operation."""

REASON_LENGTH_MAX: Final = 500
ATTEMPTS_MAX: Final = 8
RETRY_DELAY: Final = timedelta(seconds=2)

Value = Mapping[str, Any] | None
"""A value in the journal: a JSON value, or None."""


class OperationState(StrEnum):
    """Name the state of an operation."""

    PLANNED = "planned"
    AWAITING_APPROVAL = "awaiting_approval"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    LAPSED = "lapsed"
    UNDONE = "undone"


_S = OperationState
TRANSITIONS: Final[Mapping[OperationState, frozenset[OperationState]]] = {
    _S.PLANNED: frozenset({_S.AWAITING_APPROVAL, _S.QUEUED, _S.CANCELLED, _S.LAPSED}),
    _S.AWAITING_APPROVAL: frozenset({_S.QUEUED, _S.CANCELLED, _S.LAPSED}),
    _S.QUEUED: frozenset({_S.RUNNING, _S.PAUSED, _S.CANCELLED, _S.PARTLY}),
    _S.RUNNING: frozenset(
        {*(_S.QUEUED, _S.PAUSED, _S.DONE, _S.PARTLY, _S.FAILED, _S.UNKNOWN, _S.CANCELLED)}
    ),
    _S.PAUSED: frozenset({_S.QUEUED, _S.CANCELLED, _S.PARTLY}),
    _S.DONE: frozenset({_S.UNDONE}),
    _S.PARTLY: frozenset({_S.QUEUED, _S.UNDONE}),
    _S.FAILED: frozenset({_S.QUEUED}),
    _S.UNKNOWN: frozenset({_S.QUEUED, _S.UNDONE}),
    _S.CANCELLED: frozenset(),
    _S.LAPSED: frozenset(),
    _S.UNDONE: frozenset(),
}
UNCHANGED_PLANS: Final = frozenset({_S.PLANNED, _S.AWAITING_APPROVAL})
"""No worker has received these, and the facts of their plans are compared again."""

RETRYABLE: Final = frozenset({_S.PARTLY, _S.FAILED, _S.UNKNOWN})
UNDOABLE: Final = frozenset({_S.DONE, _S.PARTLY, _S.UNKNOWN})


class Wish(StrEnum):
    """A user's wish for a running operation; it takes effect between two steps."""

    PAUSE = "pause"
    CANCEL = "cancel"


class StepState(StrEnum):
    """The state of a step; a running step may have had its effect already.

    A waiting step has had no effect, so its operation can be paused and cancelled.
    """

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """Hold the journal of one step: the number of attempts, and the values before and after it."""

    position: int
    name: str
    title: str
    state: StepState = StepState.PENDING
    attempt_count: int = 0
    before: Value = None
    after: Value = None
    error: str | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Author:
    """Hold the user of a request, and its source: the door and the address of the peer.

    `risk_max` is the highest risk class that the user may confirm. `clusters` are the clusters that
    the user may change (D26).
    """

    name: str
    source: str
    risk_max: Risk = Risk.LOSS
    clusters: ClusterScope = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Operation:
    """Hold a change of a cluster from its plan to its outcome.

    `target` is the name that an operator types to confirm. `undoes` is the operation that this one
    undoes. The lease of a worker ends at `lease_until`. The next step does not begin before
    `not_before`.
    """

    id: UUID
    kind: str
    cluster_name: str
    target: str
    parameters: Mapping[str, Any]
    plan: Plan
    requested_by: str
    planned_at: datetime
    expires_at: datetime
    steps: tuple[Step, ...]
    state: OperationState = OperationState.PLANNED
    wish: Wish | None = None
    reason: str | None = None
    confirmed_by: str | None = None
    confirmed_at: datetime | None = None
    reviewed_by: str | None = None
    review_reason: str | None = None
    not_before: datetime | None = None
    ended_at: datetime | None = None
    outcome: str | None = None
    read_back: tuple[ReadBack, ...] = ()
    undoes: UUID | None = None
    fence: int = 0
    lease_until: datetime | None = None

    @property
    def next_step(self) -> Step | None:
        """Find the first step that is not done."""
        return next((step for step in self.steps if step.state is not StepState.DONE), None)

    @property
    def is_carried_out(self) -> bool:
        """Return whether every step is done, so that only the read-back remains."""
        return self.has_effect and self.next_step is None

    @property
    def has_effect(self) -> bool:
        """Return whether a step is done, or may be done."""
        return any(step.state is not StepState.PENDING for step in self.steps)

    @property
    def is_in_step(self) -> bool:
        """Return whether a step has begun and not ended, so that its effect is unknown."""
        return any(step.state is StepState.RUNNING for step in self.steps)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Hold the confirmation of an operator."""

    typed_name: str | None = None
    reason: str | None = None
    accepts_loss: bool = False


def new_operation(
    operation_id: UUID,
    kind: str,
    plan: Plan,
    *,
    cluster_name: str,
    target: str,
    parameters: Mapping[str, Any],
    requested_by: str,
    at: datetime,
    undoes: UUID | None = None,
) -> Operation:
    """Create an operation as a plan that waits for a confirmation."""
    return Operation(
        id=operation_id,
        kind=kind,
        cluster_name=cluster_name,
        target=target,
        parameters=parameters,
        plan=plan,
        requested_by=requested_by,
        planned_at=at,
        expires_at=at + PLAN_LIFETIME,
        steps=tuple(Step(i, step.name, step.title) for i, step in enumerate(plan.steps)),
        undoes=undoes,
    )


def confirm(
    operation: Operation,
    given: Confirmation,
    *,
    confirmed_by: str,
    at: datetime,
    needs_approval: bool = False,
) -> Operation:
    """Queue a planned operation, or let it wait for a second person first.

    Raises:
        OperationStateConflict: the operation is no longer a plan. PlanExpired: the plan is too old.
        PlanBlocked: a check of the plan forbids it. ConfirmationMissing: the gate of its risk class
        needs more.
    """
    state = OperationState.AWAITING_APPROVAL if needs_approval else OperationState.QUEUED
    confirmed = move(operation, state, "confirmed", {OperationState.PLANNED})
    if at >= operation.expires_at:
        raise PlanExpired(operation.id, operation.expires_at)
    block = operation.plan.block
    if block is not None:
        raise PlanBlocked(block.name, block.why, stock_code=block.stock_code)
    gate = operation.plan.gate
    if gate.needs_name and given.typed_name != operation.target:
        raise ConfirmationMissing(f"type the name {operation.target!r}")
    reason = check_reason(given.reason, is_needed=gate.needs_name)
    if gate.needs_loss_accepted and not given.accepts_loss:
        raise ConfirmationMissing(f"accept the loss: {operation.plan.loss}")
    return replace(
        confirmed,
        reason=reason,
        confirmed_by=confirmed_by,
        confirmed_at=at,
        not_before=None if needs_approval else at + gate.hold,
        expires_at=at + APPROVAL_LIFETIME if needs_approval else operation.expires_at,
    )


def check_reason(reason: str | None, *, is_needed: bool) -> str | None:
    """Return a reason as it is stored: one line without blanks around it, or None.

    Raises:
        ConfirmationMissing: a required reason is missing, or it is too long, or has several lines.
    """
    given = (reason or "").strip()
    if is_needed and not given:
        raise ConfirmationMissing("give a reason")
    if len(given) > REASON_LENGTH_MAX or not given.isprintable():
        raise ConfirmationMissing(
            f"give a reason of one line and {REASON_LENGTH_MAX} characters at most"
        )
    return given or None


def lapse(operation: Operation, why: str, *, at: datetime) -> Operation:
    """End a plan that has expired."""
    return end(operation, OperationState.LAPSED, why, at)


def pause(operation: Operation) -> Operation:
    """Pause an operation: immediately if no step is running, otherwise after the step."""
    if operation.wish is Wish.CANCEL:
        raise OperationStateConflict(operation.id, "being cancelled", "paused")
    if operation.state is OperationState.RUNNING or operation.is_in_step:
        _check_state(operation, "paused", {OperationState.RUNNING, OperationState.QUEUED})
        return replace(operation, wish=Wish.PAUSE)
    return move(operation, OperationState.PAUSED, "paused", {OperationState.QUEUED})


def resume(operation: Operation, *, at: datetime) -> Operation:
    """Resume a paused operation; a pause does not shorten the time before the first step."""
    if operation.wish is Wish.PAUSE:
        return replace(operation, wish=None)
    resumed = move(operation, OperationState.QUEUED, "resumed", {OperationState.PAUSED})
    return replace(resumed, not_before=max(at, operation.not_before or at))


def cancel(operation: Operation, *, at: datetime) -> Operation:
    """Cancel an operation: immediately if no step is running, otherwise after the step.

    If all steps are done, the values are read back instead: there is nothing to cancel.
    """
    waiting = {*UNCHANGED_PLANS, OperationState.QUEUED, OperationState.PAUSED}
    _check_state(operation, "cancelled", {*waiting, OperationState.RUNNING})
    if operation.state is OperationState.RUNNING or operation.is_in_step:
        return replace(operation, wish=Wish.CANCEL)
    if operation.is_carried_out:
        is_paused = operation.state is OperationState.PAUSED
        return resume(operation, at=at) if is_paused else operation
    return cancel_now(operation, at)


def retry(operation: Operation, *, at: datetime, needs_approval: bool = False) -> Operation:
    """Queue the remaining steps of an operation that failed; done steps stay done.

    A failed step had no effect. A step with an unknown outcome is repeated as one that may have had
    its effect. An operation that may lose data waits again before its first step. A retry confirms
    nothing, so an operation that needs another acceptance or approval must be planned again.

    Raises:
        OperationStateConflict: the operation did not fail, or must be planned again.
    """
    queued = move(operation, OperationState.QUEUED, "tried again", RETRYABLE)
    again = {StepState.FAILED: StepState.PENDING, StepState.UNKNOWN: StepState.RUNNING}
    steps = tuple(
        replace(step, state=again[step.state], attempt_count=0, error=None, ended_at=None)
        if step.state in again
        else step
        for step in operation.steps
    )
    gate = operation.plan.gate
    retried = replace(
        queued,
        steps=steps,
        not_before=at + gate.hold,
        ended_at=None,
        outcome=None,
        read_back=(),
        wish=None,
    )
    if retried.is_carried_out:
        # Only the read-back remains.
        return retried
    why = None
    if needs_approval:
        why = "a second user must approve the steps that are left"
    elif gate.needs_loss_accepted and not retried.has_effect:
        why = "no step was done, and the loss must be accepted again"
    if why is not None:
        raise OperationStateConflict(
            operation.id, operation.state, "tried again", why=f"{why}; plan it again (replan)"
        )
    return retried


def mark_undone(operation: Operation) -> Operation:
    """Record that another operation has undone this one."""
    return move(operation, OperationState.UNDONE, "undone", UNDOABLE)


def cancel_now(operation: Operation, at: datetime) -> Operation:
    """End an operation without a running step."""
    if operation.has_effect:
        done = sum(step.state is StepState.DONE for step in operation.steps)
        why = f"cancelled after {done} of {len(operation.steps)} steps"
        return end(operation, OperationState.PARTLY, why, at)
    return end(operation, OperationState.CANCELLED, "cancelled before its first step", at)


def end(operation: Operation, state: OperationState, outcome: str, at: datetime) -> Operation:
    """End an operation with a state and an outcome."""
    ended = move(operation, state, "ended", {operation.state})
    return replace(
        ended, outcome=outcome, ended_at=at, wish=None, lease_until=None, not_before=None
    )


def move(
    operation: Operation,
    state: OperationState,
    verb: str,
    origins: frozenset[OperationState] | set[OperationState],
) -> Operation:
    """Change the state of an operation from one of some states to another.

    Raises:
        OperationStateConflict: the operation is in another state.
    """
    _check_state(operation, verb, origins)
    assert state in TRANSITIONS[operation.state], f"{operation.state} -> {state}"
    return replace(operation, state=state)


def _check_state(
    operation: Operation, verb: str, origins: frozenset[OperationState] | set[OperationState]
) -> None:
    if operation.state not in origins:
        raise OperationStateConflict(operation.id, operation.state, verb)
