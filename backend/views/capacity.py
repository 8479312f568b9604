"""Show capacity reports and their rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import UUID

from backend.domain.broker_name import BrokerName
from backend.services.capacity_reports.capacity import CapacityReport, CapacityReportRow
from backend.views.copying import copied
from backend.views.graph_forms import GraphOnly, Int64, NamedInGraph, RestOnly, RestText


class CapacityRowKind(StrEnum):
    """Say what a row is about."""

    TOPIC_DAY = "topic_day"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class CapacityRowOut:
    """One line of a report: the bytes of a topic's day, or the state of a disk.

    The id is the broker's own, and in reports of former times that of its role: 0 for a master.
    """

    kind: RestText[CapacityRowKind]
    cluster_name: str
    broker_name: Annotated[str, NamedInGraph("brokerGroupName")]
    name: Annotated[str, NamedInGraph("brokerName")]
    broker_id: Int64
    topic_name: str | None
    day: RestOnly[date | None]
    bytes: Int64 | None
    disk_total_bytes: Int64 | None
    disk_free_bytes: Int64 | None
    bytes_per_day: float | None
    days_until_full: float | None
    note: str | None

    @classmethod
    def of(cls, row: CapacityReportRow) -> Self:
        """Show a row."""
        name = BrokerName(row.broker_name, row.broker_id)
        return copied(cls, row, kind=CapacityRowKind(row.kind), name=str(name))


@dataclass(frozen=True, slots=True)
class CapacityReportOut:
    """A report's life, and how much history it was made from."""

    id: UUID
    status: str
    requested_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    requested_by: str
    parameters: RestOnly[dict[str, Any]]
    coverage: RestOnly[dict[str, Any] | None]
    coverage_from: GraphOnly[datetime | None]
    coverage_to: GraphOnly[datetime | None]
    sample_count: GraphOnly[Int64 | None]
    error: str | None

    @classmethod
    def of(cls, report: CapacityReport) -> Self:
        """Show a report."""
        coverage: Mapping[str, Any] = report.coverage or {}
        return copied(
            cls,
            report,
            coverage_from=_instant(coverage.get("from")),
            coverage_to=_instant(coverage.get("to")),
            sample_count=coverage.get("sample_count"),
        )


@dataclass(frozen=True, slots=True)
class CapacityReportDetailOut(CapacityReportOut):
    """A report with its rows."""

    rows: list[CapacityRowOut]


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
