"""Describe topics, and remove topics that an administrator deletes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from backend.clients.clock import Clock
from backend.db import clusters, events, placements, static_counts, topic_notices, topics
from backend.db.engine import Database
from backend.domain.cluster_scope import ClusterScope
from backend.domain.event import TOPIC_REMOVED, topic_events
from backend.domain.names import check_cluster_name, check_topic_name
from backend.domain.page import Page, check_page_size, cut_page, search_text
from backend.domain.topic import Topic, TopicKind, TopicPlacement
from backend.domain.version import version_by_group
from backend.services.controller.group_changes import Guard


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """Choose topics of a list: those whose name contains a text, those of a kind, or all."""

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
    """List the topics of several clusters by name, with as many statements as for one cluster.

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
    """Return the topic of this name in a cluster.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. TopicNotFound: the cluster has no such topic.
    """
    check_cluster_name(cluster_name)
    check_topic_name(topic_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        return await topics.get(connection, cluster_name, topic_name)


async def list_holding_clusters(
    topic_name: str, *, within: ClusterScope, database: Database
) -> list[tuple[Topic, list[TopicPlacement]]]:
    """List the clusters within reach with a topic of this name, and its broker groups.

    Raises:
        InvalidName: the name of the topic is invalid.
    """
    check_topic_name(topic_name)
    async with database.connect() as connection:
        found = await topics.list_of_name(connection, topic_name, within=within)
        held = await topics.list_placements(connection, [one.id for one in found])
    return [(one, held[one.id]) for one in found]


async def list_placements(
    topic_ids: Collection[int], *, database: Database
) -> dict[int, list[TopicPlacement]]:
    """List the placements of many topics."""
    async with database.connect() as connection:
        return await topics.list_placements(connection, topic_ids)


def topic_version(placements: Sequence[TopicPlacement]) -> str:
    """Return the version of the layout of a topic."""
    return version_by_group({one.broker_group_name: one.settings for one in placements})


async def find_topic_version(cluster_name: str, topic_name: str, *, database: Database) -> str:
    """Read the version of the layout of a topic.

    Raises:
        ClusterNotFound: there is no such cluster. TopicNotFound: the cluster has no such topic.
    """
    topic = await describe_topic(cluster_name, topic_name, database=database)
    return topic_version((await list_placements([topic.id], database=database))[topic.id])


async def forget_placements(
    cluster_name: str,
    topic_name: str,
    broker_group_names: Collection[str],
    *,
    database: Database,
    clock: Clock,
    guard: Guard | None = None,
) -> None:
    """Remove the placements of a topic on groups, and notify all name servers.

    With a guard, they are removed only if the guard allows it.

    Raises:
        ClusterNotFound: there is no such cluster. DomainError: an error of the guard.
    """
    async with database.begin() as connection:
        if guard is not None:
            await guard(connection)
        cluster = await clusters.get(connection, cluster_name)
        held = await placements.remove(connection, cluster_name, topic_name, broker_group_names)
        await static_counts.remove_orphans(connection, [topic_name])
        now = clock.now()
        removed = [
            one
            for broker_group_name in held
            for one in topic_events(
                TOPIC_REMOVED, cluster_name, broker_group_name, [topic_name], at=now
            )
        ]
        await events.stage(connection, removed)
        await clusters.raise_route_version(connection, cluster.id, at=now)
        await topic_notices.announce(connection, cluster_name, topic_name, broker_group_names)


async def remove_topic(
    topic_name: str, *, cluster_name: str | None, database: Database, clock: Clock
) -> int:
    """Remove a topic that an administrator deleted; return the number of clusters with it.

    Brokers that still have the topic add it again with their next registration.
    """
    async with database.begin() as connection:
        held = await placements.remove_topic(connection, topic_name, cluster_name=cluster_name)
        await static_counts.remove_orphans(connection, [topic_name])
        now = clock.now()
        for cluster_id, places in held.items():
            removed = [
                one
                for place in places
                for one in topic_events(TOPIC_REMOVED, *place, [topic_name], at=now)
            ]
            await events.stage(connection, removed)
            await clusters.raise_route_version(connection, cluster_id, at=now)
    return len(held)
