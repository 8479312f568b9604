"""Present in the graph how the periodic tasks stand, and what retention would let go."""

from datetime import datetime

import strawberry
from strawberry.scalars import JSON

from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.domain import retention as domain
from backend.services.maintenance import list_tasks
from backend.services.retention import preview_retention

RetentionSubject = strawberry.enum(domain.Subject, name="RetentionSubject", description=None)


@strawberry.type
class MaintenanceTask:
    """Present a periodic task with its last run; null is what has never run.

    `isOverdue` says that no run has ended for three intervals.
    """

    name: str
    interval_ms: Int64
    began_at: datetime | None
    ended_at: datetime | None
    is_overdue: bool | None
    outcome: JSON | None


@strawberry.type
class Expiry:
    """Present how much of a subject is older than it is kept, and goes with the next run."""

    subject: domain.Subject
    kept_hours: int
    cutoff: datetime
    expired_count: Int64


@strawberry.type
class MaintenanceQuery:
    """Ask for what runs by itself."""

    @strawberry.field
    async def maintenance_tasks(self, info: Info) -> list[MaintenanceTask]:
        """List every periodic task with its last run."""
        api = info.context.api
        return [
            MaintenanceTask(
                name=one.name,
                interval_ms=Int64(int(one.interval.total_seconds() * 1000)),
                began_at=one.began_at,
                ended_at=one.ended_at,
                is_overdue=one.is_overdue,
                outcome=None if one.outcome is None else JSON(one.outcome),
            )
            for one in await list_tasks(database=api.database, clock=api.clock)
        ]

    @strawberry.field
    async def retention(self, info: Info) -> list[Expiry]:
        """Say what retention would let go now, and change nothing."""
        api = info.context.api
        found = await preview_retention(
            api.settings.retention, database=api.database, clock=api.clock
        )
        return [
            Expiry(
                subject=one.subject,
                kept_hours=int(one.kept_for.total_seconds() // 3600),
                cutoff=one.cutoff,
                expired_count=Int64(one.expired_count),
            )
            for one in found
        ]
