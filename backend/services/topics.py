"""Describe topics to whoever asks, and remove those that an administrator deletes."""

from collections.abc import Collection
from dataclasses import dataclass

from backend.clients.clock import Clock
from backend.db import clusters, topic_notices, topics
from backend.db.engine import Database
from backend.domain.cluster_scope import ClusterScope
from backend.domain.names import check_cluster_name, check_topic_name
from backend.domain.page import Page, check_page_size, cut_page, search_text
from backend.domain.topic import Topic, TopicKind, TopicPlacement


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """Say which topics a list shows: those that hold a text, those of a kind, or all."""

    search: str | None = None
    kind: TopicKind | None = None


async def list_topics(
    cluster_ids: Collection[int],
    *,
    size: int,
    after: str | None,
    chosen: TopicFilter,
    database: Database,
) -> dict[int, Page[Topic, str]]:
    """List each cluster's topics by name, in as many statements for many as for one.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    search = search_text(chosen.search)
    async with database.connect() as connection:
        found = await topics.list_of_clusters(
            connection, cluster_ids, search=search, kind=chosen.kind, after=after, limit=size + 1
        )
        totals = await topics.count_of_clusters(
            connection, cluster_ids, search=search, kind=chosen.kind
        )
    return {
        cluster_id: cut_page(
            listed, size=size, key=lambda topic: topic.name, total_count=totals[cluster_id]
        )
        for cluster_id, listed in found.items()
    }


async def describe_topic(cluster_name: str, topic_name: str, *, database: Database) -> Topic:
    """Return a cluster's topic of a name.

    Raises:
        InvalidName: no cluster or no topic may be called so.
        ClusterNotFound: no cluster is.
        TopicNotFound: no topic of the cluster is.
    """
    check_cluster_name(cluster_name)
    check_topic_name(topic_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        return await topics.get(connection, cluster_name, topic_name)


async def list_holding_clusters(
    topic_name: str, *, within: ClusterScope, database: Database
) -> list[tuple[Topic, list[TopicPlacement]]]:
    """List the clusters within reach that hold a topic of a name, and on which broker groups.

    Raises:
        InvalidName: no topic may be called so.
    """
    check_topic_name(topic_name)
    async with database.connect() as connection:
        found = await topics.list_of_name(connection, topic_name, within=within)
        held = await topics.list_placements(connection, [one.id for one in found])
    return [(one, held[one.id]) for one in found]


async def list_placements(
    topic_ids: Collection[int], *, database: Database
) -> dict[int, list[TopicPlacement]]:
    """List where each of many topics is held."""
    async with database.connect() as connection:
        return await topics.list_placements(connection, topic_ids)


async def forget_placements(
    cluster_name: str,
    topic_name: str,
    group_names: Collection[str],
    *,
    database: Database,
    clock: Clock,
) -> None:
    """Forget what groups held of a topic that they hold no more; every name server hears of it.

    Raises:
        ClusterNotFound: no cluster is called so.
    """
    async with database.begin() as connection:
        cluster = await clusters.get(connection, cluster_name)
        await topics.remove_placements(connection, cluster_name, topic_name, group_names)
        await clusters.raise_route_version(connection, cluster.id, at=clock.now())
        await topic_notices.announce(connection, cluster_name, topic_name, group_names)


async def remove_topic(
    topic_name: str, *, cluster_name: str | None, database: Database, clock: Clock
) -> int:
    """Forget a topic that an administrator deleted; return how many clusters held it.

    Brokers that still hold the topic bring it back when they next register.
    """
    async with database.begin() as connection:
        cluster_ids = await topics.remove(connection, topic_name, cluster_name=cluster_name)
        for cluster_id in cluster_ids:
            await clusters.raise_route_version(connection, cluster_id, at=clock.now())
    return len(cluster_ids)
