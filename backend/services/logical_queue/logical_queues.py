"""Describe the logical queues of a static topic."""

from collections.abc import Iterable

from backend.db import logical_queues
from backend.db.engine import Database
from backend.db.logical_queues import StoredTopic
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.names import check_cluster_name, check_topic_name


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


async def find_mappings(
    names: Iterable[tuple[str, str]], *, database: Database
) -> dict[tuple[str, str], TopicMapping | None]:
    """Return the mappings of topics, by cluster and name; None for one that is not static."""
    found: dict[tuple[str, str], TopicMapping | None] = dict.fromkeys(names)
    by_cluster: dict[str, list[str]] = {}
    for cluster_name, topic_name in found:
        by_cluster.setdefault(cluster_name, []).append(topic_name)
    async with database.connect() as connection:
        for cluster_name, topic_names in by_cluster.items():
            for one in await logical_queues.list_of_names(connection, cluster_name, topic_names):
                found[cluster_name, one.mapping.topic_name] = one.mapping
    return found
