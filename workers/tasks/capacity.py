"""Create requested capacity reports."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from backend.domain.maintenance import REPORT_DEADLINE
from backend.services.capacity_reports.capacity import (
    RUN_TASK,
    CapacityReport,
    ReviveOutcome,
    make_report,
    revive_reports,
)
from workers.runtime import Clients, is_at_work
from workers.tasks.base import run_alone, run_periodic, task

TIME_LIMIT_S: Final = int(REPORT_DEADLINE.total_seconds()) + 60


@task(RUN_TASK, time_limit_s=TIME_LIMIT_S)
def run(report_id: str) -> None:
    """Create one report; while another is in progress, the request waits for another message."""

    async def make(clients: Clients) -> CapacityReport:
        return await make_report(
            UUID(report_id),
            database=clients.database,
            clock=clients.clock,
            history=clients.history,
            job=clients.report_job,
            report_dir=clients.settings.report_dir,
        )

    run_alone(RUN_TASK, make, deadline=REPORT_DEADLINE + timedelta(seconds=30), report_id=report_id)


@task("capacity.revive")
def revive() -> None:
    """Send messages for waiting reports again, and give up lost ones."""
    run_periodic("capacity.revive", _revive)


async def _revive(clients: Clients) -> ReviveOutcome:
    return await revive_reports(
        database=clients.database,
        clock=clients.clock,
        task_queue=clients.task_queue,
        is_one_made=lambda: is_at_work(clients.redis, RUN_TASK),
    )
