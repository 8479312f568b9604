"""Show which invariants are broken, since when, and what to do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from backend.domain.finding import RUNBOOKS, Finding, FindingCode, Severity
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class FindingOut:
    """An invariant that is or was broken, what shows it, and what to do about it.

    The subject is a broker group, or a broker as `group/id`. `sentence` is what health says of it.
    """

    id: Int64
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

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Show a finding."""
        assert finding.id is not None, "it was read from the table"
        assert finding.opened_at is not None, "suspicions are not listed"
        runbook = RUNBOOKS[finding.key.code]
        return cls(
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
