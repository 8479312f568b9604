"""Answer and request capacity reports over REST."""

from collections.abc import Mapping
from datetime import date, datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from backend.api.context import Context, SignedIn, Within, require_change
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.services.capacity import describe_report, list_reports, request_report

router = APIRouter(tags=["capacity"])


class RequestedOut(BaseModel):
    """A report that a worker will make."""

    id: UUID


class CapacityRowOut(BaseModel):
    """One line of a report: the bytes of a topic's day, or the state of a disk."""

    model_config = ConfigDict(from_attributes=True)

    kind: str
    cluster_name: str
    broker_name: str
    broker_id: int
    topic_name: str | None
    day: date | None
    bytes: int | None
    disk_total_bytes: int | None
    disk_free_bytes: int | None
    bytes_per_day: float | None
    days_until_full: float | None
    note: str | None


class CapacityReportOut(BaseModel):
    """A report's life, and how much history it was made from."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    status: str
    requested_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    requested_by: str
    parameters: Mapping[str, Any]
    coverage: Mapping[str, Any] | None
    error: str | None


class CapacityReportDetailOut(CapacityReportOut):
    """A report with its rows."""

    rows: list[CapacityRowOut]


@router.get("/capacity/reports", responses=COMMON)
@reaches(Reach.KEPT)
async def show_reports(
    context: Context, within: Within, limit: Limit = 20, after: After = None
) -> PageOut[CapacityReportOut]:
    """List reports, newest first."""
    page = await list_reports(
        database=context.database,
        size=limit,
        after=decode_cursor(after, tuple[datetime, UUID]),
        within=within,
    )
    return page_out(page, CapacityReportOut.model_validate)


@router.post("/capacity/reports", status_code=HTTPStatus.ACCEPTED, responses=COMMON)
async def create_report(context: Context, principal: SignedIn) -> RequestedOut:
    """Have a report made; one that waits already is answered instead."""
    report = await request_report(
        database=context.database,
        clock=context.clock,
        task_queue=context.task_queue,
        requested_by=require_change(principal).user_name,
    )
    return RequestedOut(id=report.id)


@router.get("/capacity/reports/{report_id}", responses=NOT_FOUND)
@reaches(Reach.KEPT)
async def show_report(report_id: UUID, context: Context, within: Within) -> CapacityReportDetailOut:
    """Describe one report with its rows."""
    report = await describe_report(report_id, within=within, database=context.database)
    return CapacityReportDetailOut.model_validate(report)
