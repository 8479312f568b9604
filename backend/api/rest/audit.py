"""Export the audit over REST (G22)."""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import Depends
from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter

from backend.api.context import Context, Within
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON
from backend.api.rest.questions import read_choice
from backend.api.rest.routers import guarded_router
from backend.domain.access import Reach
from backend.questions.audit import AuditChoice
from backend.services.access.audit import export_entries
from backend.views.audit import AuditEntryOut

router = guarded_router("audit", prefix="/audit")

LINES = "application/jsonl"
LINE: Final = TypeAdapter(AuditEntryOut)

Chosen = Annotated[AuditChoice, Depends(read_choice(AuditChoice))]


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
    """Export entries as a file, one JSON object per line, the oldest first."""
    wanted = chosen.within(within)

    async def lines() -> AsyncIterator[str]:
        async for entry in export_entries(chosen=wanted, database=context.database):
            yield LINE.dump_json(AuditEntryOut.of(entry)).decode() + "\n"

    return StreamingResponse(
        lines(),
        media_type=LINES,
        headers={"Content-Disposition": 'attachment; filename="audit.jsonl"'},
    )
