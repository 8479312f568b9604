"""Read the rows of capacity reports across reports."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import select

from backend.db.capacity_reports import CapacityReportRow
from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.tables import capacity_report_rows, capacity_reports
from backend.domain.cluster_scope import ClusterScope

_ROW = tuple(
    capacity_report_rows.c[name]
    for name in CapacityReportRow.__dataclass_fields__
    if name in capacity_report_rows.c
)


async def list_of_reports(
    connection: Connection, report_ids: Collection[UUID], *, within: ClusterScope
) -> dict[UUID, list[CapacityReportRow]]:
    """List each report's rows within reach in their order, all reports in one statement."""
    columns = capacity_report_rows.c
    statement = (
        select(columns.report_id, *_ROW)
        .where(columns.report_id.in_(report_ids), *reached(within, columns.cluster_name))
        .order_by(columns.report_id, columns.position)
    )
    found: dict[UUID, list[CapacityReportRow]] = {report_id: [] for report_id in report_ids}
    for row in await connection.execute(statement):
        found[row[0]].append(CapacityReportRow(*row[1:]))
    return found


async def find_soonest_full_disk(
    connection: Connection, *, within: ClusterScope
) -> CapacityReportRow | None:
    """Find the disk within reach that the newest finished report expects to be full first."""
    columns = capacity_report_rows.c
    newest = (
        select(capacity_reports.c.id)
        .where(capacity_reports.c.status == "done")
        .order_by(capacity_reports.c.finished_at.desc(), capacity_reports.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    statement = (
        select(*_ROW)
        .where(
            columns.report_id == newest,
            columns.kind == "disk",
            columns.days_until_full.is_not(None),
            *reached(within, columns.cluster_name),
        )
        .order_by(columns.days_until_full, columns.position)
        .limit(1)
    )
    row = (await connection.execute(statement)).first()
    return None if row is None else CapacityReportRow(*row)
