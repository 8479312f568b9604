"""Decide how a worker changes an operation: it claims it, writes its journal, and ends it (D20).

Every function except `claim` refuses a worker whose fencing number is not that of the operation.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from backend.domain.operation import (
    ATTEMPTS_MAX,
    RETRY_DELAY,
    Operation,
    OperationState,
    Step,
    StepState,
    Value,
    Wish,
    cancel_now,
    end,
    move,
)
from backend.domain.operation_errors import OperationFenced
from backend.domain.plan import Agreement, ReadBack

AHEAD_MAX: Final = timedelta(minutes=1)
"""The maximum of a valid wait. A later instant was written before a clock was set back."""


def claim(
    operation: Operation, *, at: datetime, lease: timedelta, fence_floor: int = 0
) -> Operation | None:
    """Give an operation to a worker; None if another worker holds it, or if it is too early.

    Its fencing number is greater than all earlier numbers of this operation, and at least
    `fence_floor`. This floor orders it among the claims of other operations, since agents compare
    them too.
    """
    is_due = _has_come(operation.not_before, at=at)
    is_lost = not is_held(operation, at=at)
    if operation.state is OperationState.QUEUED and is_due:
        taken = move(operation, OperationState.RUNNING, "begun", {OperationState.QUEUED})
    elif operation.state is OperationState.RUNNING and is_lost:
        taken = operation
    else:
        return None
    fence = max(operation.fence + 1, fence_floor)
    return replace(taken, fence=fence, lease_until=at + lease)


def is_held(operation: Operation, *, at: datetime) -> bool:
    """Return whether the lease of an operation runs, by a wall clock that may have been set."""
    return not _has_come(operation.lease_until, at=at)


def check_fence(operation: Operation, fence: int) -> None:
    """Refuse a worker that has lost the operation.

    Raises:
        OperationFenced: another worker holds the operation, or none.
    """
    if operation.fence != fence or operation.state is not OperationState.RUNNING:
        raise OperationFenced(operation.id, fence, held=operation.fence)


def renew(operation: Operation, *, fence: int, at: datetime, lease: timedelta) -> Operation:
    """Extend the lease of an operation.

    Raises:
        OperationFenced: another worker holds the operation now.
    """
    check_fence(operation, fence)
    return replace(operation, lease_until=at + lease)


def heed(operation: Operation, *, fence: int, at: datetime) -> Operation:
    """Carry out the wish for a running operation, if it is possible between two steps."""
    check_fence(operation, fence)
    if operation.wish is None or operation.is_in_step:
        return operation
    if operation.is_carried_out:
        # All steps are done: there is nothing to pause or cancel, only the read-back.
        return replace(operation, wish=None)
    if operation.wish is Wish.CANCEL:
        return cancel_now(operation, at)
    paused = move(operation, OperationState.PAUSED, "paused", {OperationState.RUNNING})
    return replace(paused, wish=None, lease_until=None)


def begin_step(
    operation: Operation, position: int, *, fence: int, before: Value, at: datetime
) -> Operation:
    """Record the beginning of a step, and the value before it; the first such value is kept."""
    check_fence(operation, fence)
    step = operation.steps[position]
    began = replace(
        step,
        state=StepState.RUNNING,
        attempt_count=step.attempt_count + 1,
        before=before if step.began_at is None else step.before,
        began_at=step.began_at or at,
        error=None,
    )
    return _with_step(operation, began)


def end_step(
    operation: Operation, position: int, *, fence: int, before: Value, after: Value, at: datetime
) -> Operation:
    """Record that a step is done, with the values before and after it."""
    check_fence(operation, fence)
    step = operation.steps[position]
    done = replace(step, state=StepState.DONE, before=before, after=after, ended_at=at)
    return _with_step(operation, done)


def refuse_step(
    operation: Operation, position: int, *, fence: int, error: str, at: datetime
) -> Operation:
    """End an operation at a step that was refused and had no effect."""
    check_fence(operation, fence)
    step = operation.steps[position]
    failed = replace(step, state=StepState.FAILED, error=error, ended_at=at)
    stopped = _with_step(operation, failed)
    has_effect = any(one.state is StepState.DONE for one in stopped.steps)
    state = OperationState.PARTLY if has_effect else OperationState.FAILED
    return end(stopped, state, f"{step.title}: {error}", at)


def leave_open(
    operation: Operation, position: int, *, fence: int, error: str, at: datetime
) -> Operation:
    """End an operation at a step that may have had its effect, in this or an earlier attempt.

    This includes a step that was refused after an earlier attempt with an unknown outcome.
    """
    check_fence(operation, fence)
    step = operation.steps[position]
    unknown = replace(step, state=StepState.UNKNOWN, error=error, ended_at=at)
    stopped = _with_step(operation, unknown)
    return end(stopped, OperationState.UNKNOWN, f"{step.title}: {error}", at)


def postpone_step(
    operation: Operation, position: int, *, fence: int, error: str, at: datetime
) -> Operation:
    """Leave a step to a later attempt. After too many attempts it has failed, or is unknown."""
    step = operation.steps[position]
    was_begun = step.state is StepState.RUNNING
    attempt_count = step.attempt_count if was_begun else step.attempt_count + 1
    if attempt_count < ATTEMPTS_MAX:
        check_fence(operation, fence)
        noted = replace(step, attempt_count=attempt_count, error=error)
        return release(_with_step(operation, noted), fence=fence, not_before=at + RETRY_DELAY)
    give_up = leave_open if was_begun else refuse_step
    return give_up(operation, position, fence=fence, error=error, at=at)


def await_step(
    operation: Operation, position: int, *, fence: int, reason: str, progress: Value, at: datetime
) -> Operation:
    """Leave a step that waits for others to a later check, and record their progress.

    It waits without a limit: a check is no failed attempt.
    """
    check_fence(operation, fence)
    step = operation.steps[position]
    waiting = replace(step, state=StepState.WAITING, attempt_count=0, after=progress, error=reason)
    return release(_with_step(operation, waiting), fence=fence, not_before=at + RETRY_DELAY)


def release(operation: Operation, *, fence: int, not_before: datetime) -> Operation:
    """Return an operation to the queue."""
    check_fence(operation, fence)
    queued = move(operation, OperationState.QUEUED, "released", {OperationState.RUNNING})
    return replace(queued, lease_until=None, not_before=not_before)


def break_lease(operation: Operation, *, fence_floor: int, at: datetime) -> Operation:
    """Take an operation from its worker: a greater fencing number makes its later requests invalid.

    Raises:
        OperationStateConflict: no worker holds the operation.
    """
    queued = move(operation, OperationState.QUEUED, "taken back", {OperationState.RUNNING})
    fence = max(operation.fence + 1, fence_floor)
    return replace(queued, fence=fence, lease_until=None, not_before=at)


def fail(operation: Operation, *, fence: int, why: str, at: datetime) -> Operation:
    """End an operation before its first step."""
    check_fence(operation, fence)
    return end(operation, OperationState.FAILED, why, at)


def finish(
    operation: Operation, read_back: Sequence[ReadBack], *, fence: int, at: datetime
) -> Operation:
    """End an operation after all its steps, by the values that were read back (D21)."""
    check_fence(operation, fence)
    found = {one.agreement for one in read_back}
    wrong = [one.what for one in read_back if one.agreement is not Agreement.AGREES]
    if Agreement.UNKNOWN in found:
        state, outcome = OperationState.UNKNOWN, f"not read back: {', '.join(wrong)}"
    elif Agreement.DIFFERS in found:
        state, outcome = OperationState.PARTLY, f"not as intended: {', '.join(wrong)}"
    else:
        state, outcome = OperationState.DONE, "read back as intended"
    return replace(end(operation, state, outcome, at), read_back=tuple(read_back))


def _has_come(instant: datetime | None, *, at: datetime) -> bool:
    return instant is None or not at < instant <= at + AHEAD_MAX


def _with_step(operation: Operation, step: Step) -> Operation:
    steps = (*operation.steps[: step.position], step, *operation.steps[step.position + 1 :])
    return replace(operation, steps=steps)
