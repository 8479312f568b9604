"""Describe what capacity reports found to whoever asks for parts of them."""

from collections.abc import Collection
from uuid import UUID

from backend.db import capacity_rows
from backend.db.capacity_reports import CapacityReportRow
from backend.db.engine import Database


async def list_report_rows(
    report_ids: Collection[UUID], *, database: Database
) -> dict[UUID, list[CapacityReportRow]]:
    """List the rows of many reports."""
    async with database.connect() as connection:
        return await capacity_rows.list_of_reports(connection, report_ids)


async def find_soonest_full_disk(*, database: Database) -> CapacityReportRow | None:
    """Find the disk that is expected to be full first, by the newest finished report."""
    async with database.connect() as connection:
        return await capacity_rows.find_soonest_full_disk(connection)
