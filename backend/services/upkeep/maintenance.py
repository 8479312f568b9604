"""Run periodic tasks: one run does the work of each slot, and a lost run is repeated."""

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
    """Hold the state of a periodic task; a task that never ran has no instants.

    `is_overdue` means that no run has ended for three intervals: there is no worker or no
    scheduler, or the runs fail.
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
    """Do the work of a task; return None if its slot is done or another run is working.

    A failed run returns its slot; a lost run loses it at its deadline. So work may begin twice, but
    never runs twice at the same time.
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
    """Return the part of an outcome for its row: only numbers, and the count of names.

    The row is shown to all users, also to users that do not reach the named clusters.
    """
    return {
        name: value if isinstance(value, int) else len(value)
        for name, value in describe_outcome(result).items()
        if not isinstance(value, str)
    }


def describe_outcome(result: object) -> dict[str, Any]:
    """Return the part of an outcome for a log line: numbers, words and lists of them."""
    if not is_dataclass(result) or isinstance(result, type):
        return {}
    return {
        name: value
        for name, value in asdict(result).items()
        if isinstance(value, int | str | list | tuple)
    }
