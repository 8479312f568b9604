"""Load the rows of capacity reports, and which disk is full first."""

from backend.api.graphql.context import Info
from backend.api.graphql.questions import relation
from backend.services.capacity_reports.capacity_rows import find_soonest_full_disk
from backend.views.capacity import CapacityReportOut, CapacityRowKind, CapacityRowOut
from backend.views.clusters import OverviewOut


@relation(CapacityReportOut)
async def rows(
    report: CapacityReportOut, info: Info, kind: CapacityRowKind | None = None
) -> list[CapacityRowOut]:
    """List the rows of the report in their order."""
    found = await info.context.loaders.report_rows.load(report.id)
    return [CapacityRowOut.of(row) for row in found if kind in {None, row.kind}]


@relation(CapacityRowOut)
async def day(row: CapacityRowOut, _info: Info) -> str | None:
    """Write the day as YYYY-MM-DD."""
    return None if row.day is None else row.day.isoformat()


@relation(OverviewOut)
async def soonest_full_disk(_overview: OverviewOut, info: Info) -> CapacityRowOut | None:
    """Find the disk that the newest report expects to be full first."""
    context = info.context
    row = await find_soonest_full_disk(within=context.within, database=context.api.database)
    return None if row is None else CapacityRowOut.of(row)
