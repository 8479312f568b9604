"""Present the audit in the graph, and follow its chain (G22)."""

from datetime import datetime
from typing import Any, Final

import strawberry

from backend.api.cursors import NUMBER_MAX, number_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.operations import read_id
from backend.api.graphql.questions import present
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import shows
from backend.api.instants import read_instant
from backend.domain.audit import ChainEnd
from backend.domain.errors import InvalidName
from backend.domain.names import check_cluster_name
from backend.domain.page import Page
from backend.services.audit import (
    AuditFilter,
    list_entries,
    verify_chain,
)
from backend.views.audit import AuditEntryOut, AuditVerificationOut

HASH_LENGTH: Final = 32


@strawberry.type
class AuditQuery:
    """Ask for the audit."""

    @shows(Page[AuditEntryOut, int])
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
    ) -> Any:
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
        return present(page.map(AuditEntryOut.of))

    @shows(AuditVerificationOut)
    async def audit_verification(
        self, info: Info, after_number: Int64 | None = None, after_hash: str | None = None
    ) -> AuditVerificationOut:
        """Follow the chain from its beginning, or from where it was followed to before."""
        end = None
        if after_number is not None and after_hash is not None:
            end = ChainEnd(min(max(after_number, 0), NUMBER_MAX), _read_hash(after_hash))
        return AuditVerificationOut.of(
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
