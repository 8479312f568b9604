"""Answer clusters over REST."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context, Within
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.access import Reach
from backend.domain.cluster import Cluster
from backend.services.clusters import describe_cluster, list_clusters

router = APIRouter(tags=["clusters"])


class ClusterOut(BaseModel):
    """A cluster."""

    name: str
    created_at: datetime
    route_version: int


@router.get("/clusters", responses=COMMON)
@reaches(Reach.KEPT)
async def show_clusters(
    context: Context, within: Within, limit: Limit = 50, after: After = None
) -> PageOut[ClusterOut]:
    """List clusters by name."""
    page = await list_clusters(
        size=limit, after=decode_cursor(after, str), within=within, database=context.database
    )
    return page_out(page, _cluster_out)


@router.get("/clusters/{cluster_name}", responses=NOT_FOUND)
async def show_cluster(cluster_name: str, context: Context) -> ClusterOut:
    """Describe one cluster."""
    return _cluster_out(await describe_cluster(cluster_name, database=context.database))


def _cluster_out(cluster: Cluster) -> ClusterOut:
    return ClusterOut(
        name=cluster.name, created_at=cluster.created_at, route_version=cluster.route_version
    )
