"""Show how the periodic tasks stand, and what retention would let go."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from backend.domain.retention import Expiry, Subject
from backend.services.upkeep.maintenance import TaskStatus
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph

in_graph("RetentionSubject")(Subject)


@in_graph("MaintenanceTask")
@dataclass(frozen=True, slots=True)
class TaskOut:
    """How a periodic task stands; null is what has never run.

    `is_overdue` says that no run has ended for three intervals.
    """

    name: str
    interval_ms: Int64
    began_at: datetime | None
    ended_at: datetime | None
    is_overdue: bool | None
    outcome: dict[str, Any] | None

    @classmethod
    def of(cls, one: TaskStatus) -> Self:
        """Show a task."""
        return copied(cls, one, interval_ms=int(one.interval.total_seconds() * 1000))


@dataclass(frozen=True, slots=True)
class ExpiryOut:
    """How much of a subject is older than it is kept, and goes with the next run."""

    subject: Subject
    kept_hours: int
    cutoff: datetime
    expired_count: Int64

    @classmethod
    def of(cls, one: Expiry) -> Self:
        """Show what is kept no longer."""
        return copied(cls, one, kept_hours=int(one.kept_for.total_seconds() // 3600))
