"""Describe broker groups."""

from collections.abc import Collection

from backend.db import broker_groups
from backend.db.engine import Database
from backend.domain.broker_group import BrokerGroup
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page


async def list_broker_groups(
    cluster_ids: Collection[int], *, size: int, after: str | None, database: Database
) -> dict[int, Page[BrokerGroup, str]]:
    """List the groups of several clusters by name, with as many statements as for one cluster.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        found = await broker_groups.list_of_clusters(
            connection, cluster_ids, after=after, limit=size + 1
        )
        totals = await broker_groups.count_of_clusters(connection, cluster_ids)
    return {
        cluster_id: cut_page(
            groups, size=size, key=lambda group: group.name, total_count=totals[cluster_id]
        )
        for cluster_id, groups in found.items()
    }


async def describe_broker_group(cluster_name: str, name: str, *, database: Database) -> BrokerGroup:
    """Return the group of this name in a cluster.

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. BrokerGroupNotFound: the
        cluster has no such group.
    """
    check_cluster_name(cluster_name)
    check_broker_group_name(name)
    async with database.connect() as connection:
        return await broker_groups.get(connection, cluster_name, name)
