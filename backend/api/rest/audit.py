"""Answer the audit over REST, and follow its chain (G22)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from backend.api.context import Context, Within
from backend.api.cursors import NUMBER_MAX, number_cursor
from backend.api.instants import read_instant
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.domain.audit import ChainedEntry, ChainEnd
from backend.domain.names import check_cluster_name
from backend.services.audit import (
    AuditFilter,
    export_entries,
    list_entries,
    read_details,
    verify_chain,
)

router = APIRouter(prefix="/audit", tags=["audit"])

HASH_PATTERN = "^[0-9a-f]{64}$"
LINES = "application/jsonl"

Text = Annotated[str | None, Query(max_length=300, pattern=r"^[^\x00]*$")]
Action = Annotated[
    str | None,
    Query(max_length=100, pattern=r"^[a-z_.]+$", description="One, or a family: `operation`."),
]


class AuditEntryOut(BaseModel):
    """What somebody did, bound to the entry before it by its hash."""

    number: int
    happened_at: datetime
    actor: str
    source: str
    action: str
    cluster_name: str
    subject: str
    operation_id: UUID | None
    details: dict[str, Any]
    previous_hash: str
    hash: str


class AuditVerificationOut(BaseModel):
    """How far the chain was followed, and which entry breaks it, if one does.

    Not complete means that more follows: ask again with `after_number` and `after_hash`. Entries up
    to `let_go_number` are kept no longer, and the chain is followed from there.
    """

    checked_count: int
    is_complete: bool
    end_number: int
    end_hash: str
    broken_number: int | None
    reason: str | None
    let_go_number: int


async def read_filter(
    cluster_name: Text = None,
    actor: Text = None,
    operation_id: UUID | None = None,
    action: Action = None,
    search: Text = None,
    begin: datetime | None = None,
    end: datetime | None = None,
) -> AuditFilter:
    """Read which entries are meant; `search` is a part of what something was done to."""
    cluster = None if cluster_name is None else check_cluster_name(cluster_name)
    return AuditFilter(
        cluster, actor, operation_id, action, search, read_instant(begin), read_instant(end)
    )


Chosen = Annotated[AuditFilter, Depends(read_filter)]


@router.get("", responses=COMMON)
@reaches(Reach.KEPT)
async def show_audit(
    context: Context,
    within: Within,
    chosen: Chosen,
    limit: Limit = 100,
    after: After = None,
) -> PageOut[AuditEntryOut]:
    """List entries, the newest first."""
    page = await list_entries(
        size=limit,
        before=number_cursor(after),
        chosen=replace(chosen, within=within),
        database=context.database,
    )
    return page_out(page, _out)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={**COMMON, 200: {"content": {LINES: {"schema": {"type": "string"}}}}},
)
@reaches(Reach.KEPT)
async def export_audit(
    context: Context,
    within: Within,
    chosen: Chosen,
) -> StreamingResponse:
    """Give entries as a file to keep, one JSON object on a line, the oldest first."""
    wanted = replace(chosen, within=within)

    async def lines() -> AsyncIterator[str]:
        async for entry in export_entries(chosen=wanted, database=context.database):
            yield _out(entry).model_dump_json() + "\n"

    return StreamingResponse(
        lines(),
        media_type=LINES,
        headers={"Content-Disposition": 'attachment; filename="audit.jsonl"'},
    )


@router.get("/verification", responses=COMMON)
@reaches(Reach.CONTROL_PLANE)
async def verify_audit(
    context: Context,
    after_number: Annotated[int, Query(ge=0, le=NUMBER_MAX)] = 0,
    after_hash: Annotated[str, Query(pattern=HASH_PATTERN)] = "0" * 64,
) -> AuditVerificationOut:
    """Follow the chain from its beginning, or from where it was followed to before."""
    found = await verify_chain(
        database=context.database, after=ChainEnd(after_number, bytes.fromhex(after_hash))
    )
    fault = found.fault
    return AuditVerificationOut(
        checked_count=found.checked_count,
        is_complete=found.is_complete,
        end_number=found.end.number,
        end_hash=found.end.hash.hex(),
        broken_number=None if fault is None else fault.number,
        reason=None if fault is None else fault.reason,
        let_go_number=found.let_go,
    )


def _out(chained: ChainedEntry) -> AuditEntryOut:
    entry = chained.entry
    return AuditEntryOut(
        number=entry.number,
        happened_at=entry.happened_at,
        actor=entry.actor,
        source=entry.source,
        action=entry.action,
        cluster_name=entry.cluster_name,
        subject=entry.subject,
        operation_id=entry.operation_id,
        details=read_details(entry.details),
        previous_hash=chained.previous_hash.hex(),
        hash=chained.hash.hex(),
    )
