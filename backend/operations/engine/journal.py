"""Write a changed operation, with all rows that belong to the same transaction.

These are the journal, the messages to workers (D20), the events and the audit. All of them are
computed from the operation before and after, so no change omits one of them.
"""

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec

from backend.clients.clock import Clock
from backend.db import audit, events, operations
from backend.db.audit import AuditedAction
from backend.db.engine import Connection, Database
from backend.domain.event import change_events, plan_event
from backend.domain.operation import (
    UNCHANGED_PLANS,
    UNDOABLE,
    Author,
    Operation,
    OperationState,
    Step,
    StepState,
    mark_undone,
)

RUN_TASK: Final = "operation.run"
RESEND_AFTER: Final = timedelta(seconds=3)
"""A message that no worker has received after this time is sent again."""

_LOOKING: Final = {OperationState.QUEUED, OperationState.RUNNING}
_ENDED_STEPS: Final = frozenset({StepState.DONE, StepState.FAILED, StepState.UNKNOWN})


async def change(
    operation_id: UUID,
    become: Callable[[Operation], Operation],
    author: Author,
    *,
    database: Database,
    clock: Clock,
) -> Operation:
    """Change an operation, and return its new state.

    Raises:
        OperationNotFound: no operation has the id. DomainError: an error of `become`; nothing has
        changed.
    """
    async with database.begin() as connection:
        before = await operations.lock(connection, operation_id)
        after = become(before)
        await write(connection, before, after, author, clock=clock)
    return after


async def enter_plan(
    connection: Connection, operation: Operation, author: Author, *, clock: Clock
) -> None:
    """Write the event and the audit entry of a new plan."""
    details = {
        "parameters": operation.parameters,
        "risk": operation.plan.risk,
        "plan_hash": _plan_hash(operation),
        "undoes": operation.undoes,
    }
    audited = _audited(author, "operation.planned", operation, details)
    now = clock.now()
    await events.stage(connection, [plan_event(operation, at=now)])
    await audit.append(connection, audited, at=now)


async def write(
    connection: Connection, before: Operation, after: Operation, author: Author, *, clock: Clock
) -> None:
    """Write an operation whose row is locked, unless nothing has changed."""
    if after == before:
        return
    await operations.save(connection, before, after)
    if after.state is OperationState.QUEUED:
        due_at = after.not_before
    elif after.state is OperationState.RUNNING:
        due_at = after.lease_until
    else:
        due_at = None
    if due_at is None:
        await operations.settle(connection, after.id)
    else:
        await operations.owe(connection, after.id, task_name=RUN_TASK, due_at=due_at)
    now = clock.now()
    audited_actions = [*_audited_actions(before, after, author)]
    new_events = [*change_events(before, after, at=now)]
    if after.state is OperationState.DONE and after.undoes is not None:
        undone = await operations.lock(connection, after.undoes)
        # Another operation may have undone it before, or a user retries it.
        if undone.state in UNDOABLE:
            taken_back = mark_undone(undone)
            await operations.save(connection, undone, taken_back)
            audited_actions.append(
                _audited(author, "operation.undone", taken_back, {"by": after.id})
            )
            new_events += change_events(undone, taken_back, at=now)
    await events.stage(connection, new_events)
    for audited in audited_actions:
        await audit.append(connection, audited, at=now)


def _audited_actions(
    before: Operation, after: Operation, author: Author
) -> Iterator[AuditedAction]:
    is_waiting = any(step.state is StepState.WAITING for step in after.steps)
    for was, step in zip(before.steps, after.steps, strict=True):
        if step.state is StepState.WAITING and was.after is None:
            yield _audited(author, "step.waiting", after, _step_details(step))
        if step.state is not was.state and step.state in _ENDED_STEPS:
            yield _audited(author, f"step.{step.state}", after, _step_details(step))
    if after.wish is not before.wish and after.wish is not None:
        yield _audited(author, f"operation.{after.wish}_wanted", after, {})
    is_look = is_waiting and {before.state, after.state} == _LOOKING
    if is_look and not _is_broken(before, after):
        # A waiting step is checked every two seconds, perhaps for hours. The entry of its beginning
        # is enough.
        return
    yield from _audited_actions_of_state(before, after, author)


def _audited_actions_of_state(
    before: Operation, after: Operation, author: Author
) -> Iterator[AuditedAction]:
    if _is_broken(before, after):
        yield _audited(author, "operation.lease_broken", after, {"fence": after.fence})
    elif after.state is not before.state:
        details: dict[str, Any] = {"outcome": after.outcome} if after.outcome else {}
        if before.state in UNCHANGED_PLANS:
            details |= {"reason": after.reason, "plan_hash": _plan_hash(after)}
        if after.reviewed_by is not None and before.reviewed_by is None:
            details |= {"confirmed_by": after.confirmed_by, "review_reason": after.review_reason}
        if after.read_back:
            details["read_back"] = msgspec.to_builtins(after.read_back)
        yield _audited(author, f"operation.{after.state}", after, details)
    elif after.fence > before.fence:
        yield _audited(author, "operation.taken_over", after, {"fence": after.fence})


def _is_broken(before: Operation, after: Operation) -> bool:
    """Return whether the lease was broken: a worker that gives it back keeps its number."""
    return after.state is OperationState.QUEUED and after.fence > before.fence


def _step_details(step: Step) -> dict[str, Any]:
    return {
        "step": step.name,
        "attempts": step.attempt_count,
        "before": step.before,
        "after": step.after,
        "error": step.error,
    }


def _audited(
    author: Author, action: str, operation: Operation, details: dict[str, Any]
) -> AuditedAction:
    return AuditedAction(
        author=author,
        action=action,
        cluster_name=operation.cluster_name,
        subject=f"{operation.kind} {operation.target}",
        details=details,
        operation_id=operation.id,
    )


def _plan_hash(operation: Operation) -> str:
    plan = msgspec.to_builtins(operation.plan)
    for step in plan["steps"]:
        # The hash of a plan of an earlier version does not change.
        if step["action"] is None:
            del step["action"]
    return hashlib.sha256(msgspec.json.encode(plan, order="sorted")).hexdigest()
