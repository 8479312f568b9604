"""Request capacity reports, make them, and describe them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID, uuid4

import msgspec
import structlog

from backend.clients.clock import Clock
from backend.clients.report_job import ReportFiles, ReportJobFailed
from backend.clients.task_queue import TaskQueue, TaskQueueUnavailable
from backend.db import capacity_reports, sample_files
from backend.db.capacity_reports import CapacityReport, CapacityReportRow
from backend.db.engine import Database
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.errors import CapacityReportNotFound
from backend.domain.page import Page, check_page_size, cut_page

if TYPE_CHECKING:
    # Loads the libraries of Parquet, which the control plane does not need.
    from backend.clients.sample_history import SampleHistory

__all__ = [
    "CapacityReport",
    "CapacityReportRow",
    "describe_report",
    "list_reports",
    "make_report",
    "request_report",
    "revive_reports",
]

RUN_TASK: Final = "capacity.run"
HISTORY_DAYS: Final = 90
ROW_COUNT_MAX: Final = 5_000
"""Rows in Postgres for the console; the files of the result contain all rows."""
START_PATIENCE: Final = timedelta(seconds=30)
"""A report that still waits after this is sent to the workers again."""
WORKER_LOST: Final = "its worker was lost before there was a result"
WHY_WITHHELD: Final = "it failed; users with access to all clusters can see why"

log = structlog.get_logger(__name__)


class ReportJob(Protocol):
    """Make a report from files."""

    async def run(self, files: ReportFiles, output_dir: Path) -> None:
        """Write the results; see `backend.clients.report_job.SparkReportJob.run`."""
        ...


@dataclass(frozen=True, slots=True)
class ReviveOutcome:
    """Count the reports that were sent again, and those that were given up."""

    sent_count: int
    failed_count: int


class _ResultRow(msgspec.Struct, frozen=True):
    """Hold a row in the form of the job."""

    kind: str
    cluster_name: str
    broker_name: str
    broker_id: int
    topic_name: str | None = None
    day: date | None = None
    bytes: int | None = None
    disk_total_bytes: int | None = None
    disk_free_bytes: int | None = None
    bytes_per_day: float | None = None
    days_until_full: float | None = None
    note: str | None = None


class _Result(msgspec.Struct, frozen=True):
    """Hold the result of the job."""

    coverage: dict[str, Any]
    rows: list[_ResultRow]


async def request_report(
    *, database: Database, clock: Clock, task_queue: TaskQueue, requested_by: str
) -> CapacityReport:
    """Record a request for a report, and notify the workers.

    If a report waits for its start, it is returned instead of a second one with the same result. An
    unavailable task queue only delays the report, since waiting reports are sent again.
    """
    async with database.begin() as connection:
        waiting = await capacity_reports.find_planned(connection)
        if waiting is not None:
            return waiting
        report = CapacityReport(
            id=uuid4(),
            status="planned",
            requested_at=clock.now(),
            started_at=None,
            finished_at=None,
            requested_by=requested_by,
            parameters={"history_days": HISTORY_DAYS},
            result_path=None,
            coverage=None,
            error=None,
        )
        await capacity_reports.add(
            connection,
            report.id,
            requested_at=report.requested_at,
            requested_by=requested_by,
            parameters=report.parameters,
        )
    try:
        await task_queue.send(RUN_TASK, str(report.id))
    except TaskQueueUnavailable as error:
        log.warning("capacity_report_delayed", report_id=str(report.id), reason=str(error))
    return report


async def describe_report(
    report_id: UUID, *, within: ClusterScope = EVERYWHERE, database: Database
) -> CapacityReport:
    """Return a report with its rows about clusters within reach.

    Raises:
        CapacityReportNotFound: no report has the id.
    """
    async with database.connect() as connection:
        report = await capacity_reports.find(connection, report_id)
        if report is None:
            raise CapacityReportNotFound(report_id)
        rows = await capacity_reports.list_rows(connection, report_id, within=within)
    return replace(_shown(report, within), rows=rows)


async def list_reports(
    *,
    database: Database,
    size: int,
    after: tuple[datetime, UUID] | None,
    within: ClusterScope = EVERYWHERE,
) -> Page[CapacityReport, tuple[datetime, UUID]]:
    """Return a page of reports without their rows, newest first.

    Raises:
        InvalidPageSize: the page would be empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await capacity_reports.list_newest(connection, limit=size + 1, after=after)
        total_count = await capacity_reports.count(connection)
    return cut_page(
        [_shown(report, within) for report in found],
        size=size,
        key=lambda report: (report.requested_at, report.id),
        total_count=total_count,
    )


def _shown(report: CapacityReport, within: ClusterScope) -> CapacityReport:
    """Hide the error of a report from users with limited reach: it may name other files."""
    if report.error is None or not within.is_limited:
        return report
    return replace(report, error=WHY_WITHHELD)


async def make_report(
    report_id: UUID,
    *,
    database: Database,
    clock: Clock,
    history: "SampleHistory",
    job: ReportJob,
    report_dir: Path,
) -> CapacityReport:
    """Carry out a requested report; a second call after its end changes nothing.

    Only one process may make reports at a time, so other running reports have lost their process.
    Only files of the manifest are read (D25).

    Raises:
        CapacityReportNotFound: no report has the id.
    """
    async with database.begin() as connection:
        report = await capacity_reports.find(connection, report_id)
        if report is None:
            raise CapacityReportNotFound(report_id)
        if not await capacity_reports.start(connection, report_id, at=clock.now()):
            return report
        await capacity_reports.fail_running(
            connection, besides=report_id, at=clock.now(), error=WORKER_LOST
        )
        since = clock.now().date() - timedelta(days=report.parameters["history_days"])
        files = await sample_files.list_since(connection, since)
    try:
        result = await _run(_inputs(files, history), job, report_dir / str(report_id))
    except (ReportJobFailed, OSError, msgspec.DecodeError) as error:
        log.warning("capacity_report_failed", report_id=str(report_id), reason=str(error))
        async with database.begin() as connection:
            await capacity_reports.fail(connection, report_id, at=clock.now(), error=str(error))
    else:
        kept = [_row(row) for row in result.rows[:ROW_COUNT_MAX]]
        async with database.begin() as connection:
            await capacity_reports.finish(
                connection,
                report_id,
                at=clock.now(),
                result_path=str(report_dir / str(report_id)),
                coverage={**result.coverage, "rows_left_out": len(result.rows) - len(kept)},
                rows=kept,
            )
    return await describe_report(report_id, database=database)


async def revive_reports(
    *,
    database: Database,
    clock: Clock,
    task_queue: TaskQueue,
    is_one_made: Callable[[], Awaitable[bool]],
) -> ReviveOutcome:
    """Send reports again that no worker has begun, and give up reports of lost workers (D20).

    A report is given up if it is running and no process makes one. This is checked in this order,
    since a process first takes its lock.

    Raises:
        TaskQueueUnavailable: the task queue is unavailable; the next call tries again.
    """
    now = clock.now()
    sent_count = failed_count = 0
    async with database.begin() as connection:
        unfinished = await capacity_reports.list_unfinished(
            connection, requested_before=now - START_PATIENCE
        )
        running = [report for report in unfinished if report.status == "running"]
        if running and not await is_one_made():
            for report in running:
                failed_count += await capacity_reports.fail(
                    connection, report.id, at=now, error=WORKER_LOST
                )
    for report in unfinished:
        if report.status == "planned":
            await task_queue.send(RUN_TASK, str(report.id))
            sent_count += 1
    return ReviveOutcome(sent_count=sent_count, failed_count=failed_count)


async def _run(files: ReportFiles, job: ReportJob, output_dir: Path) -> _Result:
    await job.run(files, output_dir)
    content = await asyncio.to_thread((output_dir / "report.json").read_bytes)
    return msgspec.json.decode(content, type=_Result)


def _inputs(files: list[sample_files.SampleFile], history: "SampleHistory") -> ReportFiles:
    def paths(dataset: str) -> list[Path]:
        return [history.absolute(file.path) for file in files if file.dataset == dataset]

    return ReportFiles(broker_samples=paths("broker_samples"), topic_samples=paths("topic_samples"))


def _row(row: _ResultRow) -> CapacityReportRow:
    return CapacityReportRow(**msgspec.structs.asdict(row))
