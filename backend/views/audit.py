"""Show the audit, and the result of a check of its hash chain (G22)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from backend.domain.audit import ChainedEntry
from backend.services.access.audit import ChainVerification, read_details
from backend.views.copying import copied
from backend.views.field_texts import CAUSING_OPERATION_ID
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class AuditEntryOut:
    """An action of a user, bound to the entry before by its hash."""

    number: Annotated[Int64, Text("Number of the entry. Numbers have no gap.")]
    happened_at: Annotated[datetime, Text("Time of the action.")]
    actor: Annotated[str, Text("User who did the action, or the control plane.")]
    source: Annotated[str, Text("Door and address that the action came from.")]
    action: Annotated[str, Text("What was done.")]
    cluster_name: Annotated[
        str, Text("Name of the cluster. Empty if the action is about no cluster.")
    ]
    subject: Annotated[str, Text("Object that was changed.")]
    operation_id: Annotated[UUID | None, CAUSING_OPERATION_ID]
    details: Annotated[dict[str, Any], Text("Further facts of the action, by name.")]
    previous_hash: Annotated[str, Text("Hash of the entry before, in hexadecimal.")]
    hash: Annotated[str, Text("Hash of this entry and the hash before it, in hexadecimal.")]

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
    """How many entries of the chain were checked, and which entry breaks it.

    If the check is not complete, ask again with `after_number` and `after_hash`. Retention has
    deleted the entries up to `let_go_number`, and the chain starts there.
    """

    checked_count: Annotated[int, Text("Number of entries that were checked.")]
    is_complete: Annotated[bool, Text("Whether the check reached the newest entry.")]
    end_number: Annotated[
        Int64, Text("Number of the last entry that was checked. The next request starts after it.")
    ]
    end_hash: Annotated[str, Text("Hash of the last entry that was checked, in hexadecimal.")]
    broken_number: Annotated[
        Int64 | None, Text("Number of the entry where the chain breaks. Null if it does not break.")
    ]
    reason: Annotated[str | None, Text("Why the chain breaks. Null if it does not break.")]
    let_go_number: Annotated[
        Int64, Text("Number of the newest entry that retention has deleted. 0 if it deleted none.")
    ]

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
            let_go_number=found.expired_number,
        )
