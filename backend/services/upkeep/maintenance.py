"""Run periodic tasks: in each slot of a task one run counts, and a lost one is begun again."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

import structlog

from backend.clients.clock import Clock
from backend.db import maintenance_runs
from backend.db.engine import Database
from backend.domain.maintenance import PERIODIC_TASKS, PeriodicTask

OutcomeT = TypeVar("OutcomeT")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """Say how a periodic task stands; what has never run has no instants.

    `is_overdue` says that no run has ended for three intervals: no worker or no scheduler is there,
    or the runs fail.
    """

    name: str
    interval: timedelta
    began_at: datetime | None
    ended_at: datetime | None
    is_overdue: bool | None
    outcome: dict[str, Any] | None


async def run_in_slot(
    task: PeriodicTask, work: Callable[[], Awaitable[OutcomeT]], *, database: Database, clock: Clock
) -> OutcomeT | None:
    """Do a task's work unless its slot is worked off or another run is at it; then return None.

    A run that fails gives its slot back; one that dies loses it when its deadline is over. Work may
    therefore be begun twice, never be done twice at once.
    """
    run_id = uuid4()
    async with database.begin() as connection:
        slot = await maintenance_runs.take_slot(
            connection, task.name, interval=task.interval, patience=task.patience, run_id=run_id
        )
    if slot is None:
        return None
    try:
        outcome = await work()
    except BaseException:
        async with database.begin() as connection:
            await maintenance_runs.drop_run(connection, task.name, run_id=run_id)
        raise
    async with database.begin() as connection:
        is_ours = await maintenance_runs.end_run(
            connection, task.name, run_id=run_id, outcome=count_outcome(outcome), at=clock.now()
        )
    if not is_ours:
        log.warning("slot_lost", task_name=task.name, slot=slot)
    return outcome


async def list_tasks(*, database: Database, clock: Clock) -> list[TaskStatus]:
    """List every periodic task with its last run, by name."""
    async with database.connect() as connection:
        runs = {run.task_name: run for run in await maintenance_runs.list_runs(connection)}
    now = clock.now()
    found = []
    for name, task in sorted(PERIODIC_TASKS.items()):
        run = runs.get(name)
        if run is None:
            found.append(TaskStatus(name, task.interval, None, None, None, None))
            continue
        is_overdue = task.is_overdue(ended_at=run.ended_at, began_at=run.began_at, at=now)
        outcome = None if run.outcome is None else dict(run.outcome)
        found.append(
            TaskStatus(name, task.interval, run.began_at, run.ended_at, is_overdue, outcome)
        )
    return found


def count_outcome(result: object) -> dict[str, int]:
    """Return what of an outcome its row holds: counts alone, of names how many there are.

    The row is shown to whoever reads, also to those who do not reach the clusters that are named.
    """
    return {
        name: value if isinstance(value, int) else len(value)
        for name, value in describe_outcome(result).items()
        if not isinstance(value, str)
    }


def describe_outcome(result: object) -> dict[str, Any]:
    """Return what of an outcome a log line can hold: counts, words and lists of those."""
    if not is_dataclass(result) or isinstance(result, type):
        return {}
    return {
        name: value
        for name, value in asdict(result).items()
        if isinstance(value, int | str | list | tuple)
    }
