"""Answer the audit over REST, and follow its chain (G22)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter

from backend.api.context import Context, Within
from backend.api.cursors import NUMBER_MAX, number_cursor
from backend.api.instants import read_instant
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.domain.audit import ChainEnd
from backend.domain.names import check_cluster_name
from backend.services.audit import (
    AuditFilter,
    export_entries,
    list_entries,
    verify_chain,
)
from backend.views.audit import AuditEntryOut, AuditVerificationOut

router = APIRouter(prefix="/audit", tags=["audit"])

HASH_PATTERN = "^[0-9a-f]{64}$"
LINES = "application/jsonl"
LINE: Final = TypeAdapter(AuditEntryOut)

Text = Annotated[str | None, Query(max_length=300, pattern=r"^[^\x00]*$")]
Action = Annotated[
    str | None,
    Query(max_length=100, pattern=r"^[a-z_.]+$", description="One, or a family: `operation`."),
]


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
    return page_out(page, AuditEntryOut.of)


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
            yield LINE.dump_json(AuditEntryOut.of(entry)).decode() + "\n"

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
    return AuditVerificationOut.of(found)
