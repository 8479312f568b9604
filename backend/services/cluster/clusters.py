"""Describe clusters."""

from backend.db import clusters
from backend.db.engine import Database
from backend.domain.cluster import Cluster, ClusterCounts
from backend.domain.cluster_scope import ClusterScope
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page


async def list_clusters(
    *, size: int, after: str | None, within: ClusterScope, database: Database
) -> Page[Cluster, str]:
    """List clusters within reach by name.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await clusters.list_after(connection, after=after, within=within, limit=size + 1)
        total = await clusters.count(connection, within=within)
    return cut_page(found, size=size, key=lambda cluster: cluster.name, total_count=total)


async def describe_cluster(name: str, *, database: Database) -> Cluster:
    """Return the cluster of a name.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
    """
    check_cluster_name(name)
    async with database.connect() as connection:
        return await clusters.get(connection, name)


async def count_clusters(*, within: ClusterScope, database: Database) -> ClusterCounts:
    """Count the objects of all clusters within reach."""
    async with database.connect() as connection:
        return await clusters.count_clusters(connection, within=within)
