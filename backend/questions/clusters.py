"""Ask for clusters."""

from typing import Annotated

from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import ClusterNotFound
from backend.domain.page import Page
from backend.questions.question import After, Given, Limit, question
from backend.services.cluster.clusters import count_clusters, describe_cluster, list_clusters
from backend.views.clusters import ClusterOut, OverviewOut

ClusterName = Annotated[str, Given(graph_name="name")]


@question("/clusters", field="clusters", tag="clusters", reach=Reach.KEPT)
async def show_clusters(
    limit: Limit = 50, after: After[str] = None, *, within: ClusterScope, database: Database
) -> Page[ClusterOut, str]:
    """List clusters by name."""
    page = await list_clusters(size=limit, after=after, within=within, database=database)
    return page.map(ClusterOut.of)


@question(
    "/clusters/{cluster_name}",
    field="cluster",
    tag="clusters",
    refusals=(404,),
    absences=(ClusterNotFound,),
)
async def show_cluster(cluster_name: ClusterName, *, database: Database) -> ClusterOut:
    """Describe one cluster."""
    return ClusterOut.of(await describe_cluster(cluster_name, database=database))


@question(
    None,
    field="overview",
    tag="clusters",
    reach=Reach.KEPT,
    why_not="REST has the totals with each list",
)
async def show_overview(*, within: ClusterScope, database: Database) -> OverviewOut:
    """Count the brokers, broker groups and topics of all clusters within reach."""
    return OverviewOut.of(await count_clusters(within=within, database=database))
