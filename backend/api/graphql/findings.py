"""Present findings in the graph: which invariants are broken, since when, and what to do."""

from datetime import datetime
from typing import Self

import strawberry
from strawberry.scalars import JSON

from backend.api.cursors import number_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.scalars import Int64
from backend.domain import finding as domain
from backend.domain.names import check_cluster_name
from backend.services.findings import FindingFilter, list_findings

FindingCode = strawberry.enum(domain.FindingCode, description=None)
Severity = strawberry.enum(domain.Severity, description=None)


@strawberry.type
class Finding:
    """Present an invariant that is or was broken, what shows it, and what to do about it.

    The subject is a broker group, or a broker as `group/id`. `sentence` is what health says of it.
    """

    id: Int64
    code: domain.FindingCode
    severity: domain.Severity
    title: str
    cluster_name: str
    subject: str
    sentence: str | None
    evidence: JSON
    advice: str
    since: datetime
    opened_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, finding: domain.Finding) -> Self:
        """Present a finding."""
        assert finding.id is not None, "it was read from the table"
        assert finding.opened_at is not None, "suspicions are not listed"
        runbook = domain.RUNBOOKS[finding.key.code]
        return cls(
            id=Int64(finding.id),
            code=finding.key.code,
            severity=runbook.severity,
            title=runbook.title,
            cluster_name=finding.key.cluster_name,
            subject=finding.key.subject,
            sentence=finding.sentence,
            evidence=JSON(dict(finding.evidence)),
            advice=finding.advice,
            since=finding.suspected_at,
            opened_at=finding.opened_at,
            closed_at=finding.closed_at,
        )


@strawberry.type
class FindingQuery:
    """Ask what is wrong."""

    @strawberry.field
    async def findings(
        self,
        info: Info,
        *,
        first: int = 100,
        after: str | None = None,
        cluster_name: str | None = None,
        code: domain.FindingCode | None = None,
        is_open: bool | None = None,
    ) -> Connection[Finding]:
        """List findings, the newest first; `isOpen` chooses those that stand now or have ended."""
        name = None if cluster_name is None else check_cluster_name(cluster_name)
        page = await list_findings(
            size=first,
            before=number_cursor(after),
            chosen=FindingFilter(name, code, is_open=is_open, within=info.context.within),
            database=info.context.api.database,
        )
        return connect(page, Finding.of)
