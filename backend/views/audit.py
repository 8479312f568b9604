"""Show the audit, and how far its chain was followed (G22)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from backend.domain.audit import ChainedEntry
from backend.services.access.audit import ChainVerification, read_details
from backend.views.copying import copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class AuditEntryOut:
    """What a user did, bound to the entry before it by its hash."""

    number: Int64
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

    @classmethod
    def of(cls, chained: ChainedEntry) -> Self:
        """Show an entry."""
        return copied(
            cls,
            chained.entry,
            details=read_details(chained.entry.details),
            previous_hash=chained.previous_hash.hex(),
            hash=chained.hash.hex(),
        )


@dataclass(frozen=True, slots=True)
class AuditVerificationOut:
    """How far the chain was followed, and which entry breaks it, if one does.

    Not complete means that more follows: ask again with `after_number` and `after_hash`. Entries up
    to `let_go_number` are kept no longer, and the chain is followed from there.
    """

    checked_count: int
    is_complete: bool
    end_number: Int64
    end_hash: str
    broken_number: Int64 | None
    reason: str | None
    let_go_number: Int64

    @classmethod
    def of(cls, found: ChainVerification) -> Self:
        """Show a verification."""
        fault = found.fault
        return copied(
            cls,
            found,
            end_number=found.end.number,
            end_hash=found.end.hash.hex(),
            broken_number=None if fault is None else fault.number,
            reason=None if fault is None else fault.reason,
            let_go_number=found.let_go,
        )
