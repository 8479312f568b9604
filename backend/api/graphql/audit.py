"""Present the audit in the graph, and follow its chain (G22)."""

from datetime import datetime
from typing import Final, Self

import strawberry
from strawberry.scalars import JSON

from backend.api.cursors import NUMBER_MAX, number_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.operations import read_id
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.scalars import Int64
from backend.api.instants import read_instant
from backend.domain.audit import ChainedEntry, ChainEnd
from backend.domain.errors import InvalidName
from backend.domain.names import check_cluster_name
from backend.services.audit import (
    AuditFilter,
    ChainVerification,
    list_entries,
    read_details,
    verify_chain,
)

HASH_LENGTH: Final = 32


@strawberry.type
class AuditEntry:
    """Present what somebody did, bound to the entry before it by its hash."""

    number: Int64
    happened_at: datetime
    actor: str
    source: str
    action: str
    cluster_name: str
    subject: str
    operation_id: strawberry.ID | None
    details: JSON
    previous_hash: str
    hash: str

    @classmethod
    def of(cls, chained: ChainedEntry) -> Self:
        """Present an entry."""
        entry = chained.entry
        operation_id = entry.operation_id
        return cls(
            number=Int64(entry.number),
            happened_at=entry.happened_at,
            actor=entry.actor,
            source=entry.source,
            action=entry.action,
            cluster_name=entry.cluster_name,
            subject=entry.subject,
            operation_id=None if operation_id is None else strawberry.ID(str(operation_id)),
            details=JSON(read_details(entry.details)),
            previous_hash=chained.previous_hash.hex(),
            hash=chained.hash.hex(),
        )


@strawberry.type
class AuditVerification:
    """Present how far the chain was followed, and which entry breaks it, if one does.

    Not complete means that more follows: ask again with the end's number and hash. Entries up to
    `letGoNumber` are kept no longer, and the chain is followed from there.
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
        """Present a verification."""
        fault = found.fault
        return cls(
            checked_count=found.checked_count,
            is_complete=found.is_complete,
            end_number=Int64(found.end.number),
            end_hash=found.end.hash.hex(),
            broken_number=None if fault is None else Int64(fault.number),
            reason=None if fault is None else fault.reason,
            let_go_number=Int64(found.let_go),
        )


@strawberry.type
class AuditQuery:
    """Ask for the audit."""

    @strawberry.field
    async def audit_entries(
        self,
        info: Info,
        first: int = 50,
        after: str | None = None,
        cluster_name: str | None = None,
        actor: str | None = None,
        operation_id: strawberry.ID | None = None,
        action: str | None = None,
        search: str | None = None,
        begin: datetime | None = None,
        end: datetime | None = None,
    ) -> Connection[AuditEntry]:
        """List entries of the audit, the newest first.

        `action` is one, or a family such as `operation`; `search` is a part of what something was
        done to.
        """
        page = await list_entries(
            size=first,
            before=number_cursor(after),
            chosen=AuditFilter(
                None if cluster_name is None else check_cluster_name(cluster_name),
                _checked(actor),
                operation_id=None if operation_id is None else read_id(operation_id),
                action=_checked(action),
                search=_checked(search),
                begin=read_instant(begin),
                end=read_instant(end),
                within=info.context.within,
            ),
            database=info.context.api.database,
        )
        return connect(page, AuditEntry.of)

    @strawberry.field
    async def audit_verification(
        self, info: Info, after_number: Int64 | None = None, after_hash: str | None = None
    ) -> AuditVerification:
        """Follow the chain from its beginning, or from where it was followed to before."""
        end = None
        if after_number is not None and after_hash is not None:
            end = ChainEnd(min(max(after_number, 0), NUMBER_MAX), _read_hash(after_hash))
        return AuditVerification.of(
            await verify_chain(database=info.context.api.database, after=end)
        )


def _checked(text: str | None) -> str | None:
    if text is not None and not text.isprintable():
        raise InvalidName(kind="filter", name=text, reason="holds what can't be printed")
    return text


def _read_hash(text: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != HASH_LENGTH:
        raise InvalidName(kind="hash", name=text, reason="is not 64 hexadecimal digits")
    return found
