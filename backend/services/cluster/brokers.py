"""Describe brokers."""

from collections.abc import Collection

from backend.db import brokers, clusters
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.broker_name import BrokerName
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page


async def list_brokers(
    cluster_name: str, *, size: int, after: tuple[str, int] | None, database: Database
) -> Page[Broker, tuple[str, int]]:
    """List the brokers of a cluster by name, including brokers that only a controller knows.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        cluster = await clusters.get(connection, cluster_name)
        found = await brokers.list_of_cluster(connection, cluster.id, after=after, limit=size + 1)
        total = await brokers.count_of_cluster(connection, cluster.id)
    return cut_page(
        found,
        size=size,
        key=lambda broker: (broker.broker_group_name, broker.own_id),
        total_count=total,
    )


async def describe_broker(cluster_name: str, broker_name: str, *, database: Database) -> Broker:
    """Describe the broker of a name as it is now, also if only a controller knows it.

    Raises:
        InvalidName: the name of the cluster or of the broker is invalid. ClusterNotFound: there is
        no such cluster. BrokerUnknown: the records of the cluster contain no such broker.
    """
    check_cluster_name(cluster_name)
    name = BrokerName.parse(broker_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        return await brokers.get(connection, cluster_name, name)


async def list_brokers_of_groups(
    group_ids: Collection[int], *, database: Database
) -> dict[int, list[Broker]]:
    """List the brokers of many groups by name, including brokers that only a controller knows."""
    async with database.connect() as connection:
        return await brokers.list_all_of_groups(connection, group_ids)


async def list_online_brokers(*, database: Database) -> list[Broker]:
    """List the online brokers of all clusters."""
    async with database.connect() as connection:
        return await brokers.list_online(connection)
