"""Ask for the state of periodic tasks, and for the records that retention would delete."""

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.retention import RetentionPolicy
from backend.questions.question import question
from backend.services.upkeep.maintenance import list_tasks
from backend.services.upkeep.retention import preview_retention
from backend.views.maintenance import ExpiryOut, TaskOut


@question(
    "/maintenance/tasks",
    field="maintenanceTasks",
    tag="maintenance",
    reach=Reach.CONTROL_PLANE,
)
async def show_tasks(*, database: Database, clock: Clock) -> list[TaskOut]:
    """List every periodic task with its last run."""
    return [TaskOut.of(one) for one in await list_tasks(database=database, clock=clock)]


@question("/maintenance/retention", field="retention", tag="maintenance", reach=Reach.CONTROL_PLANE)
async def show_retention(
    *, retention: RetentionPolicy, database: Database, clock: Clock
) -> list[ExpiryOut]:
    """Report which records retention would delete now. Nothing is deleted."""
    found = await preview_retention(retention, database=database, clock=clock)
    return [ExpiryOut.of(one) for one in found]
