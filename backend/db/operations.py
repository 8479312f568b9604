"""Store operations with the journal of their steps, and the messages to workers.

A change of an operation locks its row first, so it is always decided from the present state. The
outbox is written with the change that needs a worker, and contains the time of the message (D20).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import (
    ColumnElement,
    Update,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.operation_tables import operation_steps, operations, outbox
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.operation import (
    UNCHANGED_PLANS,
    Operation,
    OperationState,
    Step,
    StepState,
    Wish,
)
from backend.domain.operation_errors import OperationNotFound
from backend.domain.operation_run import AHEAD_MAX
from backend.domain.plan import Plan, ReadBack

OperationKey = tuple[datetime, UUID]

_FIELDS = tuple(field.name for field in fields(Operation) if field.name != "steps")
_STEP_FIELDS = tuple(field.name for field in fields(Step))

# Each change of an operation uses these statements. Building them once halves the cost, which is
# more than that of Postgres.
_FIND = select(operations).where(operations.c.id == bindparam("operation_id"))
_LOCK = _FIND.with_for_update()
_STEPS = (
    select(operation_steps)
    .where(operation_steps.c.operation_id.in_(bindparam("operation_ids", expanding=True)))
    .order_by(operation_steps.c.operation_id, operation_steps.c.position)
)
_SAVE_STEP = (
    update(operation_steps)
    .where(
        operation_steps.c.operation_id == bindparam("saved_id"),
        operation_steps.c.position == bindparam("at"),
    )
    .values({name: bindparam(name) for name in _STEP_FIELDS})
)
_SETTLE = delete(outbox).where(outbox.c.operation_id == bindparam("settled_id"))
_NEW_DEBT = upsert(outbox)
_OWE = _NEW_DEBT.on_conflict_do_update(
    index_elements=["operation_id"],
    set_={"task_name": _NEW_DEBT.excluded.task_name, "due_at": _NEW_DEBT.excluded.due_at},
)
_NEXT_FENCE = select(
    func.greatest(
        func.extract("epoch", func.clock_timestamp()) * 1000,
        select(func.coalesce(func.max(operations.c.fence), 0) + 1).scalar_subquery(),
    )
)


@dataclass(frozen=True, slots=True)
class OperationFilter:
    """Choose operations; None as a condition accepts all."""

    cluster_name: str | None = None
    state: OperationState | None = None
    kind: str | None = None
    search: str | None = None
    """A part of the name of the target; upper and lower case are the same."""
    within: ClusterScope = EVERYWHERE


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """Hold a due task of an operation."""

    operation_id: UUID
    task_name: str


async def add(connection: Connection, operation: Operation) -> None:
    """Add an operation with its steps."""
    await connection.execute(insert(operations).values(id=operation.id, **_values(operation)))
    rows = [_step_values(operation.id, step) for step in operation.steps]
    if rows:
        await connection.execute(insert(operation_steps), rows)


async def save(connection: Connection, before: Operation, after: Operation) -> None:
    """Write the changes of an operation whose row is locked."""
    old, new = _values(before), _values(after)
    changed = {name: value for name, value in new.items() if value != old[name]}
    if changed:
        await connection.execute(_update(frozenset(changed)), {**changed, "saved_id": after.id})
    for was, step in zip(before.steps, after.steps, strict=True):
        if was != step:
            values = {name: getattr(step, name) for name in _STEP_FIELDS}
            await connection.execute(
                _SAVE_STEP, {**values, "saved_id": after.id, "at": was.position}
            )


async def get(connection: Connection, operation_id: UUID) -> Operation:
    """Return an operation.

    Raises:
        OperationNotFound: no operation has the id.
    """
    return await _get(connection, operation_id, locks=False)


async def lock(connection: Connection, operation_id: UUID) -> Operation:
    """Return an operation, and lock it until this transaction ends.

    Raises:
        OperationNotFound: no operation has the id.
    """
    return await _get(connection, operation_id, locks=True)


async def list_newest(
    connection: Connection, *, chosen: OperationFilter, after: OperationKey | None, limit: int
) -> list[Operation]:
    """Return operations, the newest first, starting behind `after`, in two statements."""
    columns = operations.c
    statement = (
        select(operations)
        .where(*_conditions(chosen))
        .order_by(columns.planned_at.desc(), columns.id.desc())
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(tuple_(columns.planned_at, columns.id) < after)
    rows = (await connection.execute(statement)).mappings().all()
    steps = await _list_steps(connection, [row["id"] for row in rows])
    return [_operation(row, steps.get(row["id"], ())) for row in rows]


async def count(connection: Connection, *, chosen: OperationFilter) -> int:
    """Count operations."""
    statement = select(func.count()).select_from(operations).where(*_conditions(chosen))
    return int(await connection.scalar(statement) or 0)


async def list_expired(connection: Connection, *, at: datetime, limit: int) -> list[UUID]:
    """Return expired plans, waiting for an approval or not, the oldest first."""
    columns = operations.c
    statement = (
        select(columns.id)
        .where(columns.state.in_(UNCHANGED_PLANS), columns.expires_at <= at)
        .order_by(columns.expires_at)
        .limit(limit)
    )
    return list((await connection.execute(statement)).scalars())


async def owe(
    connection: Connection, operation_id: UUID, *, task_name: str, due_at: datetime
) -> None:
    """Store when to send a message to workers; a later call replaces an earlier one."""
    await connection.execute(
        _OWE, {"operation_id": operation_id, "task_name": task_name, "due_at": due_at}
    )


async def settle(connection: Connection, operation_id: UUID) -> None:
    """Remove the message: no worker is needed any more."""
    await connection.execute(_SETTLE, {"settled_id": operation_id})


async def draw_fence(connection: Connection) -> int:
    """Return a number that grows over all operations: the clock of Postgres in milliseconds.

    All workers share this clock, and it does not go back when an older database is restored. If the
    clock was set back, the numbers continue from the highest one: brokers refuse lower numbers.
    """
    return int(await connection.scalar(_NEXT_FENCE) or 0)


async def take_due(
    connection: Connection, *, at: datetime, again_after: timedelta, limit: int
) -> list[OutboxEntry]:
    """Take the due messages; each is due again after a while, in case it is lost."""
    is_noted_by_a_later_clock = outbox.c.due_at > at + AHEAD_MAX
    due = (
        select(outbox.c.operation_id)
        .where((outbox.c.due_at <= at) | is_noted_by_a_later_clock)
        .order_by(outbox.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    statement = (
        update(outbox)
        .where(outbox.c.operation_id.in_(due))
        .values(due_at=at + again_after)
        .returning(outbox.c.operation_id, outbox.c.task_name)
    )
    return [OutboxEntry(*row) for row in await connection.execute(statement)]


async def _get(connection: Connection, operation_id: UUID, *, locks: bool) -> Operation:
    found = await connection.execute(_LOCK if locks else _FIND, {"operation_id": operation_id})
    row = found.mappings().one_or_none()
    if row is None:
        raise OperationNotFound(operation_id)
    steps = await _list_steps(connection, [operation_id])
    return _operation(row, steps.get(operation_id, ()))


async def _list_steps(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, list[Step]]:
    found: dict[UUID, list[Step]] = {}
    for row in (await connection.execute(_STEPS, {"operation_ids": ids})).mappings():
        values = {name: row[name] for name in _STEP_FIELDS}
        step = Step(**(values | {"state": StepState(row["state"])}))
        found.setdefault(row["operation_id"], []).append(step)
    return found


@cache
def _update(names: frozenset[str]) -> Update:
    """Make the statement that changes these columns; operations use a few dozen statements."""
    values: dict[str, Any] = {name: bindparam(name) for name in sorted(names)}
    return update(operations).where(operations.c.id == bindparam("saved_id")).values(values)


def _conditions(chosen: OperationFilter) -> list[ColumnElement[bool]]:
    columns = operations.c
    wanted = (
        (columns.cluster_name, chosen.cluster_name),
        (columns.state, chosen.state),
        (columns.kind, chosen.kind),
    )
    conditions = [column == value for column, value in wanted if value is not None]
    conditions += reached(chosen.within, columns.cluster_name)
    if chosen.search:
        conditions.append(columns.target.icontains(chosen.search, autoescape=True))
    return conditions


def _values(operation: Operation) -> dict[str, Any]:
    return {
        **{name: getattr(operation, name) for name in _FIELDS if name != "id"},
        "parameters": dict(operation.parameters),
        "plan": msgspec.to_builtins(operation.plan),
        "read_back": msgspec.to_builtins(operation.read_back),
    }


def _step_values(operation_id: UUID, step: Step) -> dict[str, Any]:
    values = {name: getattr(step, name) for name in _STEP_FIELDS}
    return {"operation_id": operation_id, **values}


def _operation(row: Mapping[Any, Any], steps: Sequence[Step]) -> Operation:
    values = {name: row[name] for name in _FIELDS}
    return Operation(
        **values
        | {
            "state": OperationState(row["state"]),
            "wish": None if row["wish"] is None else Wish(row["wish"]),
            "plan": msgspec.convert(row["plan"], Plan),
            "read_back": msgspec.convert(row["read_back"], tuple[ReadBack, ...]),
            "steps": tuple(steps),
        }
    )
