"""Read the resent dead letters from the journals of operations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import JSONB

from backend.db.engine import Connection
from backend.db.operation_tables import operation_steps, operations
from backend.domain.operation import StepState


@dataclass(frozen=True, slots=True)
class JournaledStep:
    """Hold a started step: its operation, its position in the plan, and its outcome."""

    operation_id: UUID
    state: StepState
    action: Mapping[str, Any]
    after: Mapping[str, Any] | None


async def list_begun_steps(
    connection: Connection, cluster_name: str, kind: str, target: str
) -> list[JournaledStep]:
    """Return the started steps of all operations of a kind on a target, the oldest first."""
    steps, columns = operation_steps.c, operations.c
    planned = columns.plan["steps"].op("->", return_type=JSONB)(steps.position)
    action = planned.op("->", return_type=JSONB)("action").label("action")
    statement = (
        select(columns.id, steps.state, steps.after, action)
        .join(operation_steps, steps.operation_id == columns.id)
        .where(
            columns.cluster_name == cluster_name,
            columns.kind == kind,
            columns.target == target,
            steps.began_at.is_not(None),
        )
        .order_by(columns.planned_at, columns.id, steps.position)
    )
    return [
        JournaledStep(row.id, StepState(row.state), row.action, row.after)
        for row in await connection.execute(statement)
    ]
