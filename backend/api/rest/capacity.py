"""Request capacity reports over REST."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel

from backend.api.context import Context, SignedIn, require_change
from backend.api.rest.errors import COMMON
from backend.api.rest.routers import guarded_router
from backend.services.capacity_reports.capacity import request_report
from backend.views.field_texts import REPORT_ID

router = guarded_router("capacity")


class RequestedOut(BaseModel):
    """A report that a worker will make."""

    id: Annotated[UUID, REPORT_ID]


@router.post("/capacity/reports", status_code=HTTPStatus.ACCEPTED, responses=COMMON)
async def create_report(context: Context, principal: SignedIn) -> RequestedOut:
    """Request a capacity report. If one waits already, the answer is that one."""
    report = await request_report(
        database=context.database,
        clock=context.clock,
        task_queue=context.task_queue,
        requested_by=require_change(principal).user_name,
    )
    return RequestedOut(id=report.id)
