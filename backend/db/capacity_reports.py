"""Store capacity reports and their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, and_, delete, func, insert, or_, select, tuple_, update

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.tables import capacity_report_rows, capacity_reports
from backend.domain.cluster_scope import ClusterScope


@dataclass(frozen=True, slots=True)
class CapacityReportRow:
    """Hold one row of a report: the bytes of a topic on a broker in a day, or the state of a disk.

    A value that does not apply to the kind, or is unknown, is None; `note` says why.
    """

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


@dataclass(frozen=True, slots=True)
class CapacityReport:
    """Hold the state of a report and, after its end, its results and the period of its samples."""

    id: UUID
    status: str
    requested_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    requested_by: str
    parameters: Mapping[str, Any]
    result_path: str | None
    coverage: Mapping[str, Any] | None
    error: str | None
    rows: tuple[CapacityReportRow, ...] = ()


async def add(
    connection: Connection,
    report_id: UUID,
    *,
    requested_at: datetime,
    requested_by: str,
    parameters: Mapping[str, Any],
) -> None:
    """Record a request for a report."""
    await connection.execute(
        insert(capacity_reports).values(
            id=report_id,
            status="planned",
            requested_at=requested_at,
            requested_by=requested_by,
            parameters=dict(parameters),
        )
    )


async def find(connection: Connection, report_id: UUID) -> CapacityReport | None:
    """Return a report without its rows."""
    statement = select(capacity_reports).where(capacity_reports.c.id == report_id)
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else _report(row)


async def find_planned(connection: Connection) -> CapacityReport | None:
    """Return the oldest report that waits for its start."""
    statement = (
        select(capacity_reports)
        .where(capacity_reports.c.status == "planned")
        .order_by(capacity_reports.c.requested_at, capacity_reports.c.id)
        .limit(1)
    )
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else _report(row)


async def list_newest(
    connection: Connection, *, limit: int, after: tuple[datetime, UUID] | None
) -> list[CapacityReport]:
    """Return reports without their rows, newest first, starting behind `after`."""
    columns = capacity_reports.c
    statement = select(capacity_reports).order_by(columns.requested_at.desc(), columns.id.desc())
    if after is not None:
        statement = statement.where(tuple_(columns.requested_at, columns.id) < after)
    return [_report(row) for row in await connection.execute(statement.limit(limit))]


async def count(connection: Connection) -> int:
    """Count all reports."""
    statement = select(func.count()).select_from(capacity_reports)
    return int(await connection.scalar(statement) or 0)


async def list_unfinished(
    connection: Connection, *, requested_before: datetime
) -> list[CapacityReport]:
    """Return reports that are running, and those that should have started by an instant."""
    columns = capacity_reports.c
    statement = (
        select(capacity_reports)
        .where(
            or_(
                and_(columns.status == "planned", columns.requested_at < requested_before),
                columns.status == "running",
            )
        )
        .order_by(columns.requested_at, columns.id)
    )
    return [_report(row) for row in await connection.execute(statement)]


async def start(connection: Connection, report_id: UUID, *, at: datetime) -> bool:
    """Mark a report as running; return whether it was still unfinished."""
    return await _move(connection, report_id, status="running", started_at=at)


async def finish(
    connection: Connection,
    report_id: UUID,
    *,
    at: datetime,
    result_path: str,
    coverage: Mapping[str, Any],
    rows: Sequence[CapacityReportRow],
) -> bool:
    """Mark a report as done and store its rows in order; return whether it was unfinished."""
    moved = await _move(
        connection,
        report_id,
        status="done",
        finished_at=at,
        result_path=result_path,
        coverage=dict(coverage),
    )
    if not moved:
        return False
    table = capacity_report_rows
    await connection.execute(delete(table).where(table.c.report_id == report_id))
    if rows:
        await connection.execute(
            insert(table),
            [
                {"report_id": report_id, "position": position, **asdict(row)}
                for position, row in enumerate(rows)
            ],
        )
    return True


async def fail(connection: Connection, report_id: UUID, *, at: datetime, error: str) -> bool:
    """Mark a report as failed; return whether it was still unfinished."""
    return await _move(connection, report_id, status="failed", finished_at=at, error=error)


async def fail_running(connection: Connection, *, besides: UUID, at: datetime, error: str) -> None:
    """Mark all running reports but one as failed."""
    columns = capacity_reports.c
    await connection.execute(
        update(capacity_reports)
        .where(columns.status == "running", columns.id != besides)
        .values(status="failed", finished_at=at, error=error)
    )


async def list_rows(
    connection: Connection, report_id: UUID, *, within: ClusterScope
) -> tuple[CapacityReportRow, ...]:
    """Return a report's rows about clusters within reach in their order."""
    columns = capacity_report_rows.c
    statement = (
        select(
            columns.kind,
            columns.cluster_name,
            columns.broker_name,
            columns.broker_id,
            columns.topic_name,
            columns.day,
            columns.bytes,
            columns.disk_total_bytes,
            columns.disk_free_bytes,
            columns.bytes_per_day,
            columns.days_until_full,
            columns.note,
        )
        .where(columns.report_id == report_id, *reached(within, columns.cluster_name))
        .order_by(columns.position)
    )
    return tuple(CapacityReportRow(*row) for row in await connection.execute(statement))


async def _move(connection: Connection, report_id: UUID, **values: Any) -> bool:
    columns = capacity_reports.c
    statement = (
        update(capacity_reports)
        .where(columns.id == report_id, columns.status.in_(("planned", "running")))
        .values(**values)
    )
    return (await connection.execute(statement)).rowcount == 1


def _report(row: Row[Any]) -> CapacityReport:
    return CapacityReport(**row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
