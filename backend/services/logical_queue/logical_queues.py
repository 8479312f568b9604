"""Describe the logical queues of a static topic, and list the static topics of a cluster."""

from collections.abc import Iterable

from backend.db import clusters, logical_queues, static_topic_lists
from backend.db.engine import Database
from backend.db.logical_queues import StoredTopic
from backend.db.static_topic_lists import ListedTopic, Wanted
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.names import check_cluster_name, check_topic_name
from backend.domain.page import Page, check_page_size, cut_page, search_text


async def describe_logical_queues(
    cluster_name: str, topic_name: str, *, database: Database
) -> StoredTopic:
    """Return the mapping of a static topic, and its unfinished change.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. StaticTopicNotFound: the
        cluster has no static topic of the name.
    """
    names = check_cluster_name(cluster_name), check_topic_name(topic_name)
    async with database.connect() as connection:
        return await logical_queues.get(connection, *names)


async def list_static_topics(
    cluster_name: str,
    *,
    size: int,
    after: str | None,
    search: str | None,
    broker_group_name: str | None,
    database: Database,
) -> Page[ListedTopic, str]:
    """List the static topics of a cluster by name, or those with segments on a broker group.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: it does not exist.
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    wanted = Wanted(check_cluster_name(cluster_name), search_text(search), broker_group_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        total = await static_topic_lists.count(connection, wanted)
        found = await static_topic_lists.list_topics(
            connection, wanted, after=after, limit=size + 1
        )
    return cut_page(found, size=size, key=lambda topic: topic.name, total_count=total)


async def find_mappings(
    names: Iterable[tuple[str, str]], *, database: Database
) -> dict[tuple[str, str], TopicMapping | None]:
    """Return the mappings of topics, by cluster and name; None for one that is not static."""
    found: dict[tuple[str, str], TopicMapping | None] = dict.fromkeys(names)
    async with database.connect() as connection:
        for one in await logical_queues.list_of_keys(connection, found):
            found[one.cluster_name, one.mapping.topic_name] = one.mapping
    return found
