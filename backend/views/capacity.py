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
from backend.views.field_texts import BROKER_GROUP_NAME, BROKER_NAME, CLUSTER_NAME, REPORT_ID
from backend.views.graph_forms import GraphOnly, Int64, NamedInGraph, RestOnly, RestText, Text


class CapacityRowKind(StrEnum):
    """Name the subject of a row."""

    TOPIC_DAY = "topic_day"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class CapacityRowOut:
    """One row of a report: the bytes of one day of a topic, or the state of a disk.

    The id is that of the broker in its group. Former reports have the id of its role: 0 for a
    master.
    """

    kind: Annotated[
        RestText[CapacityRowKind],
        Text("Whether the row is about one day of a topic or about a disk."),
    ]
    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_name: Annotated[str, NamedInGraph("brokerGroupName"), BROKER_GROUP_NAME]
    name: Annotated[str, NamedInGraph("brokerName"), BROKER_NAME]
    broker_id: Annotated[
        Int64,
        Text(
            "Id of the broker in its group. Former reports have the id that clients were routed to."
        ),
    ]
    topic_name: Annotated[str | None, Text("Name of the topic. Null in a row about a disk.")]
    day: Annotated[
        RestOnly[date | None], Text("Day of the bytes, in UTC. Null in a row about a disk.")
    ]
    bytes: Annotated[
        Int64 | None,
        Text(
            "Bytes that the broker received for the topic on that day. Null in a row about a disk."
        ),
    ]
    disk_total_bytes: Annotated[
        Int64 | None, Text("Size of the disk in bytes. Null in a row about a topic.")
    ]
    disk_free_bytes: Annotated[
        Int64 | None, Text("Free space of the disk in bytes. Null in a row about a topic.")
    ]
    bytes_per_day: Annotated[
        float | None, Text("Growth of the used space in bytes per day. Null if it is unknown.")
    ]
    days_until_full: Annotated[
        float | None,
        Text("Days until the disk is full at this growth. Null if it does not fill up."),
    ]
    note: Annotated[str | None, Text("Limits of the figures in words. Null if there are none.")]

    @classmethod
    def of(cls, row: CapacityReportRow) -> Self:
        """Show a row."""
        name = BrokerName(row.broker_name, row.broker_id)
        return copied(cls, row, kind=CapacityRowKind(row.kind), name=str(name))


@dataclass(frozen=True, slots=True)
class CapacityReportOut:
    """State and period of a report."""

    id: Annotated[UUID, REPORT_ID]
    status: Annotated[str, Text("State of the report.")]
    requested_at: Annotated[datetime, Text("Time of the request.")]
    started_at: Annotated[
        datetime | None, Text("Time when a worker began the report. Null before it.")
    ]
    finished_at: Annotated[datetime | None, Text("Time when the report ended. Null before it.")]
    requested_by: Annotated[str, Text("User who requested the report.")]
    parameters: Annotated[
        RestOnly[dict[str, Any]], Text("Parameters of the report, such as the days of history.")
    ]
    coverage: Annotated[
        RestOnly[dict[str, Any] | None],
        Text("Period of the samples, and their number. Null before the report ends."),
    ]
    coverage_from: Annotated[
        GraphOnly[datetime | None], Text("Time of the oldest sample. Null before the report ends.")
    ]
    coverage_to: Annotated[
        GraphOnly[datetime | None], Text("Time of the newest sample. Null before the report ends.")
    ]
    sample_count: Annotated[
        GraphOnly[Int64 | None], Text("Number of samples. Null before the report ends.")
    ]
    error: Annotated[str | None, Text("Why the report failed. Null if it did not.")]

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

    rows: Annotated[list[CapacityRowOut], Text("Rows of the report.")]


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
