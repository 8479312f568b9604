"""Show the state of periodic tasks, and the records that retention would delete."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from backend.domain.retention import Expiry, Subject
from backend.services.upkeep.maintenance import TaskStatus
from backend.views.copying import copied
from backend.views.graph_forms import Int64, Text, in_graph

in_graph("RetentionSubject")(Subject)


@in_graph("MaintenanceTask")
@dataclass(frozen=True, slots=True)
class TaskOut:
    """State of a periodic task; null if the task never ran.

    `is_overdue` means that no run has ended for three intervals.
    """

    name: Annotated[str, Text("Name of the task.")]
    interval_ms: Annotated[Int64, Text("Milliseconds from one run to the next.")]
    began_at: Annotated[
        datetime | None, Text("Time when the last run began. Null if the task never ran.")
    ]
    ended_at: Annotated[
        datetime | None, Text("Time when the last completed run ended. Null if no run has ended.")
    ]
    is_overdue: Annotated[
        bool | None,
        Text("Whether no run has ended for three intervals. Null if the task never ran."),
    ]
    outcome: Annotated[
        dict[str, Any] | None,
        Text("Result of the last completed run, by name. Null if no run has ended."),
    ]

    @classmethod
    def of(cls, one: TaskStatus) -> Self:
        """Show a task."""
        return copied(cls, one, interval_ms=int(one.interval.total_seconds() * 1000))


@dataclass(frozen=True, slots=True)
class ExpiryOut:
    """The number of records of one kind that the next run deletes."""

    subject: Annotated[Subject, Text("Kind of records.")]
    kept_hours: Annotated[int, Text("Hours that records are kept.")]
    cutoff: Annotated[datetime, Text("Time before which records are deleted.")]
    expired_count: Annotated[Int64, Text("Number of records that the next run deletes.")]

    @classmethod
    def of(cls, one: Expiry) -> Self:
        """Show the records to delete."""
        return copied(cls, one, kept_hours=int(one.kept_for.total_seconds() // 3600))
