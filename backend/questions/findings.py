"""Ask which invariants are broken."""

from typing import Annotated

from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.finding import FindingCode
from backend.domain.names import check_cluster_name
from backend.domain.page import Page
from backend.questions.question import After, Given, Limit, question
from backend.services.upkeep.findings import FindingFilter, list_findings
from backend.views.findings import FindingOut

IsOpen = Annotated[bool | None, Given("Only open findings, or only closed findings.")]
OfCluster = Annotated[str | None, Given(length_max=300)]


@question("/findings", field="findings", tag="findings", reach=Reach.KEPT)
async def show_findings(
    limit: Limit = 100,
    after: After[int] = None,
    cluster_name: OfCluster = None,
    code: FindingCode | None = None,
    is_open: IsOpen = None,
    *,
    within: ClusterScope,
    database: Database,
) -> Page[FindingOut, int]:
    """List findings, the newest first."""
    name = None if cluster_name is None else check_cluster_name(cluster_name)
    page = await list_findings(
        size=limit,
        before=after,
        chosen=FindingFilter(name, code, is_open=is_open, within=within),
        database=database,
    )
    return page.map(FindingOut.of)
