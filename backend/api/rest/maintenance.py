"""Answer over REST how the periodic tasks stand, and what retention would let go."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON
from backend.domain.access import Reach
from backend.domain.retention import Subject
from backend.services.maintenance import list_tasks
from backend.services.retention import preview_retention

router = APIRouter(prefix="/maintenance", tags=["maintenance"])


class TaskOut(BaseModel):
    """How a periodic task stands; null is what has never run.

    `is_overdue` says that no run has ended for three intervals.
    """

    name: str
    interval_ms: int
    began_at: datetime | None
    ended_at: datetime | None
    is_overdue: bool | None
    outcome: dict[str, Any] | None


class ExpiryOut(BaseModel):
    """How much of a subject is older than it is kept, and goes with the next run."""

    subject: Subject
    kept_hours: int
    cutoff: datetime
    expired_count: int


@router.get("/tasks", responses=COMMON)
@reaches(Reach.CONTROL_PLANE)
async def show_tasks(context: Context) -> list[TaskOut]:
    """List every periodic task with its last run."""
    found = await list_tasks(database=context.database, clock=context.clock)
    return [
        TaskOut(
            name=one.name,
            interval_ms=int(one.interval.total_seconds() * 1000),
            began_at=one.began_at,
            ended_at=one.ended_at,
            is_overdue=one.is_overdue,
            outcome=one.outcome,
        )
        for one in found
    ]


@router.get("/retention", responses=COMMON)
@reaches(Reach.CONTROL_PLANE)
async def show_retention(context: Context) -> list[ExpiryOut]:
    """Say what retention would let go now, and change nothing."""
    found = await preview_retention(
        context.settings.retention, database=context.database, clock=context.clock
    )
    return [
        ExpiryOut(
            subject=one.subject,
            kept_hours=int(one.kept_for.total_seconds() // 3600),
            cutoff=one.cutoff,
            expired_count=one.expired_count,
        )
        for one in found
    ]
