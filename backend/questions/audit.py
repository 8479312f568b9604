"""Ask for the audit, and whether its chain holds (G22)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.audit import ChainEnd
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import InvalidName
from backend.domain.names import check_cluster_name
from backend.domain.page import Page
from backend.questions.given_instants import read_instant
from backend.questions.question import FLAT, After, Fifty, Given, question
from backend.services.access.audit import AuditFilter, list_entries, verify_chain
from backend.views.audit import AuditEntryOut, AuditVerificationOut
from backend.views.graph_forms import IS_INT64

NUMBER_MAX: Final = 2**63 - 1
HASH_LENGTH: Final = 32

Text = Annotated[str | None, Given(length_max=300, pattern=r"^[^\x00]*$")]
Action = Annotated[
    str | None,
    Given("One, or a family: `operation`.", length_max=100, pattern=r"^[a-z_.]+$"),
]
Number = Annotated[int, Given(low=0, high=NUMBER_MAX, is_optional_in_graph=True), IS_INT64]
Hash = Annotated[str, Given(pattern="^[0-9a-f]{64}$", is_optional_in_graph=True)]


@dataclass(frozen=True, slots=True)
class AuditChoice:
    """Choose entries of the audit. `search` is a part of the name of the changed object."""

    cluster_name: Text = None
    actor: Text = None
    operation_id: UUID | None = None
    action: Action = None
    search: Text = None
    begin: datetime | None = None
    end: datetime | None = None

    def within(self, scope: ClusterScope) -> AuditFilter:
        """Choose among the entries of clusters within reach.

        Raises:
            InvalidName: no cluster may be called so, or a text has what can't be printed.
        """
        for text in (self.actor, self.action, self.search):
            if text is not None and not text.isprintable():
                raise InvalidName(kind="filter", name=text, reason="holds what can't be printed")
        return AuditFilter(
            None if self.cluster_name is None else check_cluster_name(self.cluster_name),
            self.actor,
            self.operation_id,
            self.action,
            self.search,
            read_instant(self.begin),
            read_instant(self.end),
            scope,
        )


@question("/audit", field="auditEntries", tag="audit", reach=Reach.KEPT)
async def show_audit(
    limit: Fifty = 100,
    after: After[int] = None,
    chosen: Annotated[AuditChoice, FLAT] = AuditChoice(),
    *,
    within: ClusterScope,
    database: Database,
) -> Page[AuditEntryOut, int]:
    """List entries of the audit, the newest first."""
    page = await list_entries(
        size=limit, before=after, chosen=chosen.within(within), database=database
    )
    return page.map(AuditEntryOut.of)


@question("/audit/verification", field="auditVerification", tag="audit", reach=Reach.CONTROL_PLANE)
async def verify_audit(
    after_number: Number = 0, after_hash: Hash = "0" * 2 * HASH_LENGTH, *, database: Database
) -> AuditVerificationOut:
    """Check the hash chain of the audit from its beginning, or from the end of the last check."""
    end = ChainEnd(min(max(after_number, 0), NUMBER_MAX), _read_hash(after_hash))
    return AuditVerificationOut.of(await verify_chain(database=database, after=end))


def _read_hash(text: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != HASH_LENGTH:
        raise InvalidName(kind="hash", name=text, reason="is not 64 hexadecimal digits")
    return found
