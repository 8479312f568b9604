"""Show which invariants are broken, since when, and what to do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from backend.domain.finding import RUNBOOKS, Finding, FindingCode, Severity
from backend.views.field_texts import CLUSTER_NAME
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class FindingOut:
    """An invariant that is or was broken, what shows it, and what to do about it."""

    id: Annotated[Int64, Text("Number of the finding.")]
    code: Annotated[FindingCode, Text("Invariant that is broken.")]
    severity: Annotated[Severity, Text("How severe the finding is.")]
    title: Annotated[str, Text("The invariant in words.")]
    cluster_name: Annotated[str, CLUSTER_NAME]
    subject: Annotated[
        str, Text("Broker group, broker, consumer group or topic that the finding is about.")
    ]
    broker_group_name: Annotated[
        str | None,
        Text("Name of the broker group. Null if the finding is about none."),
    ]
    topic_name: Annotated[
        str | None, Text("Name of the topic. Null if the finding is not about a topic.")
    ]
    sentence: Annotated[
        str | None, Text("What health reports because of this finding. Null if nothing.")
    ]
    evidence: Annotated[dict[str, Any], Text("Facts that show the finding.")]
    advice: Annotated[str, Text("What to do about the finding.")]
    since: Annotated[datetime, Text("Time when the invariant was first seen broken.")]
    opened_at: Annotated[
        datetime, Text("Time when the finding was opened, because the invariant was still broken.")
    ]
    closed_at: Annotated[
        datetime | None, Text("Time when the invariant held again. Null while it is broken.")
    ]

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
            broker_group_name=finding.key.broker_group_name,
            topic_name=finding.key.topic_name,
            sentence=finding.sentence,
            evidence=dict(finding.evidence),
            advice=finding.advice,
            since=finding.suspected_at,
            opened_at=finding.opened_at,
            closed_at=finding.closed_at,
        )
