"""Present capacity reports and their rows."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.services.capacity import CapacityReport as StoredReport
from backend.services.capacity import CapacityReportRow as StoredRow


@strawberry.enum
class CapacityRowKind(StrEnum):
    """Say what a row is about."""

    TOPIC_DAY = "topic_day"
    DISK = "disk"


@strawberry.type
class CapacityRow:
    """Present one line of a report."""

    kind: CapacityRowKind
    cluster_name: str
    group_name: str
    broker_id: Int64
    topic_name: str | None
    day: str | None
    bytes: Int64 | None
    disk_total_bytes: Int64 | None
    disk_free_bytes: Int64 | None
    bytes_per_day: float | None
    days_until_full: float | None
    note: str | None

    @classmethod
    def of(cls, row: StoredRow) -> Self:
        """Present a row."""
        return cls(
            kind=CapacityRowKind(row.kind),
            cluster_name=row.cluster_name,
            group_name=row.broker_name,
            broker_id=Int64(row.broker_id),
            topic_name=row.topic_name,
            day=None if row.day is None else row.day.isoformat(),
            bytes=_int64(row.bytes),
            disk_total_bytes=_int64(row.disk_total_bytes),
            disk_free_bytes=_int64(row.disk_free_bytes),
            bytes_per_day=row.bytes_per_day,
            days_until_full=row.days_until_full,
            note=row.note,
        )


@strawberry.type
class CapacityReport:
    """Present one report."""

    model: strawberry.Private[StoredReport]
    id: strawberry.ID
    status: str
    requested_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    requested_by: str
    error: str | None
    coverage_from: datetime | None
    coverage_to: datetime | None
    sample_count: Int64 | None

    @strawberry.field
    async def rows(self, info: Info, kind: CapacityRowKind | None = None) -> list[CapacityRow]:
        """List the report's rows in their order."""
        rows = await info.context.loaders.report_rows.load(self.model.id)
        # graphql-core hands an enum argument over as its value, a plain string.
        return [CapacityRow.of(row) for row in rows if kind is None or row.kind == kind]

    @classmethod
    def of(cls, report: StoredReport) -> Self:
        """Present a report."""
        coverage: Mapping[str, Any] = report.coverage or {}
        return cls(
            model=report,
            id=strawberry.ID(str(report.id)),
            status=report.status,
            requested_at=report.requested_at,
            started_at=report.started_at,
            finished_at=report.finished_at,
            requested_by=report.requested_by,
            error=report.error,
            coverage_from=_instant(coverage.get("from")),
            coverage_to=_instant(coverage.get("to")),
            sample_count=_int64(coverage.get("sample_count")),
        )


def _int64(value: int | None) -> Int64 | None:
    return None if value is None else Int64(value)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
