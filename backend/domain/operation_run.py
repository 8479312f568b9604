"""Decide what a worker does to an operation: take it, journal its steps, end it (D20).

Every function but `claim` refuses a worker whose fencing number is no longer the operation's.
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
"""Nothing waits for longer, nor are the clocks of two processes as far apart: an instant further
ahead was noted before a clock was set back."""


def claim(
    operation: Operation, *, at: datetime, lease: timedelta, fence_floor: int = 0
) -> Operation | None:
    """Give an operation to a worker; nothing when another has it, or its time has not come.

    Its fencing number is greater than any before it of this operation, and at least `fence_floor`,
    which orders it among the claims of others: an agent compares them too.
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
    """Tell whether the lease of an operation runs, by a wall clock that may have been set."""
    return not _has_come(operation.lease_until, at=at)


def check_fence(operation: Operation, fence: int) -> None:
    """Refuse a worker that an operation was taken from.

    Raises:
        OperationFenced: another holds it, or nobody.
    """
    if operation.fence != fence or operation.state is not OperationState.RUNNING:
        raise OperationFenced(operation.id, fence, held=operation.fence)


def renew(operation: Operation, *, fence: int, at: datetime, lease: timedelta) -> Operation:
    """Keep an operation for longer.

    Raises:
        OperationFenced: it is another worker's by now.
    """
    check_fence(operation, fence)
    return replace(operation, lease_until=at + lease)


def heed(operation: Operation, *, fence: int, at: datetime) -> Operation:
    """Do what is wished of a running operation, if that can be done between two steps."""
    check_fence(operation, fence)
    if operation.wish is None or operation.is_in_step:
        return operation
    if operation.is_carried_out:
        # All of it is done: nothing is left to pause or to cancel, only to read back.
        return replace(operation, wish=None)
    if operation.wish is Wish.CANCEL:
        return cancel_now(operation, at)
    paused = move(operation, OperationState.PAUSED, "paused", {OperationState.RUNNING})
    return replace(paused, wish=None, lease_until=None)


def begin_step(
    operation: Operation, position: int, *, fence: int, before: Value, at: datetime
) -> Operation:
    """Note that a step begins, and the value before it; the first attempt's value stays."""
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
    """Note that a step is done, and the values around it as they are known now."""
    check_fence(operation, fence)
    step = operation.steps[position]
    done = replace(step, state=StepState.DONE, before=before, after=after, ended_at=at)
    return _with_step(operation, done)


def refuse_step(
    operation: Operation, position: int, *, fence: int, error: str, at: datetime
) -> Operation:
    """End an operation at a step that was refused, so had no effect."""
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
    """End an operation at a step that may have had its effect, by this attempt or an earlier one.

    Also one that was refused in the end is so, where an attempt before it was left open.
    """
    check_fence(operation, fence)
    step = operation.steps[position]
    unknown = replace(step, state=StepState.UNKNOWN, error=error, ended_at=at)
    stopped = _with_step(operation, unknown)
    return end(stopped, OperationState.UNKNOWN, f"{step.title}: {error}", at)


def postpone_step(
    operation: Operation, position: int, *, fence: int, error: str, at: datetime
) -> Operation:
    """Leave a step to a later attempt; after too many it failed, or is unknown if it was begun."""
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
    """Leave a step that waits for others to a later look, and note how far they are.

    It waits for as long as it takes: looking is no attempt that has failed.
    """
    check_fence(operation, fence)
    step = operation.steps[position]
    waiting = replace(step, state=StepState.WAITING, attempt_count=0, after=progress, error=reason)
    return release(_with_step(operation, waiting), fence=fence, not_before=at + RETRY_DELAY)


def release(operation: Operation, *, fence: int, not_before: datetime) -> Operation:
    """Give an operation back to the queue."""
    check_fence(operation, fence)
    queued = move(operation, OperationState.QUEUED, "released", {OperationState.RUNNING})
    return replace(queued, lease_until=None, not_before=not_before)


def break_lease(operation: Operation, *, fence_floor: int, at: datetime) -> Operation:
    """Take an operation from its worker: under a greater number nothing of it counts any more.

    Raises:
        OperationStateConflict: no worker holds it.
    """
    queued = move(operation, OperationState.QUEUED, "taken back", {OperationState.RUNNING})
    fence = max(operation.fence + 1, fence_floor)
    return replace(queued, fence=fence, lease_until=None, not_before=at)


def fail(operation: Operation, *, fence: int, why: str, at: datetime) -> Operation:
    """End an operation none of whose steps was begun."""
    check_fence(operation, fence)
    return end(operation, OperationState.FAILED, why, at)


def finish(
    operation: Operation, read_back: Sequence[ReadBack], *, fence: int, at: datetime
) -> Operation:
    """End an operation all of whose steps are done, by what was read back (D21)."""
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
