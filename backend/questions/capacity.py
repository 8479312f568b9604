"""Ask for capacity reports."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import CapacityReportNotFound
from backend.domain.page import Page
from backend.questions.question import After, Given, Limit, question
from backend.services.capacity_reports.capacity import describe_report, list_reports
from backend.views.capacity import CapacityReportDetailOut, CapacityReportOut, CapacityRowOut
from backend.views.copying import copied

ReportKey = tuple[datetime, UUID]
ReportId = Annotated[UUID, Given(graph_name="id")]


@question("/capacity/reports", field="capacityReports", tag="capacity", reach=Reach.KEPT)
async def show_reports(
    limit: Limit = 20, after: After[ReportKey] = None, *, within: ClusterScope, database: Database
) -> Page[CapacityReportOut, ReportKey]:
    """List capacity reports, the newest first."""
    page = await list_reports(database=database, size=limit, after=after, within=within)
    return page.map(CapacityReportOut.of)


@question(
    "/capacity/reports/{report_id}",
    field="capacityReport",
    tag="capacity",
    reach=Reach.KEPT,
    refusals=(404,),
    absences=(CapacityReportNotFound,),
    graph_view=CapacityReportOut,
)
async def show_report(
    report_id: ReportId, *, within: ClusterScope, database: Database
) -> CapacityReportDetailOut:
    """Describe one capacity report with its rows."""
    report = await describe_report(report_id, within=within, database=database)
    rows = [CapacityRowOut.of(row) for row in report.rows]
    return copied(CapacityReportDetailOut, CapacityReportOut.of(report), rows=rows)
