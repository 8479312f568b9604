"""Read parts of capacity reports."""

from collections.abc import Collection
from uuid import UUID

from backend.db import capacity_rows
from backend.db.capacity_reports import CapacityReportRow
from backend.db.engine import Database
from backend.domain.cluster_scope import ClusterScope


async def list_report_rows(
    report_ids: Collection[UUID], *, within: ClusterScope, database: Database
) -> dict[UUID, list[CapacityReportRow]]:
    """List the rows of many reports about clusters within reach."""
    async with database.connect() as connection:
        return await capacity_rows.list_of_reports(connection, report_ids, within=within)


async def find_soonest_full_disk(
    *, within: ClusterScope, database: Database
) -> CapacityReportRow | None:
    """Find the disk within reach that is expected to be full first, by the newest report."""
    async with database.connect() as connection:
        return await capacity_rows.find_soonest_full_disk(connection, within=within)
