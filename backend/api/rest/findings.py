"""Answer over REST which invariants are broken, since when, and what to do."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from backend.api.context import Context, Within
from backend.api.cursors import number_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.domain.finding import RUNBOOKS, Finding, FindingCode, Severity
from backend.domain.names import check_cluster_name
from backend.services.findings import FindingFilter, list_findings

router = APIRouter(prefix="/findings", tags=["findings"])

IsOpen = Annotated[
    bool | None, Query(description="Only those that stand now, or only those that have ended.")
]


class FindingOut(BaseModel):
    """An invariant that is or was broken, what shows it, and what to do about it.

    The subject is a broker group, or a broker as `group/id`. `sentence` is what health says of it.
    """

    id: int
    code: FindingCode
    severity: Severity
    title: str
    cluster_name: str
    subject: str
    sentence: str | None
    evidence: dict[str, Any]
    advice: str
    since: datetime
    opened_at: datetime
    closed_at: datetime | None


@router.get("", responses=COMMON)
@reaches(Reach.KEPT)
async def show_findings(
    context: Context,
    within: Within,
    limit: Limit = 100,
    after: After = None,
    cluster_name: Annotated[str | None, Query(max_length=300)] = None,
    code: FindingCode | None = None,
    is_open: IsOpen = None,
) -> PageOut[FindingOut]:
    """List findings, the newest first."""
    name = None if cluster_name is None else check_cluster_name(cluster_name)
    page = await list_findings(
        size=limit,
        before=number_cursor(after),
        chosen=FindingFilter(name, code, is_open=is_open, within=within),
        database=context.database,
    )
    return page_out(page, _out)


def _out(finding: Finding) -> FindingOut:
    assert finding.id is not None, "it was read from the table"
    assert finding.opened_at is not None, "suspicions are not listed"
    runbook = RUNBOOKS[finding.key.code]
    return FindingOut(
        id=finding.id,
        code=finding.key.code,
        severity=runbook.severity,
        title=runbook.title,
        cluster_name=finding.key.cluster_name,
        subject=finding.key.subject,
        sentence=finding.sentence,
        evidence=dict(finding.evidence),
        advice=finding.advice,
        since=finding.suspected_at,
        opened_at=finding.opened_at,
        closed_at=finding.closed_at,
    )
