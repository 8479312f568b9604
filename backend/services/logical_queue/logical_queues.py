"""Describe the logical queues of a static topic, and list the static topics of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.db import clusters, logical_queues, static_topic_lists
from backend.db.engine import Database
from backend.db.logical_queues import StoredTopic
from backend.db.static_topic_lists import ListedTopic, Wanted
from backend.domain.logical_queue.lookup import max_offset, min_offset, oldest_segment
from backend.domain.logical_queue.mapping import LogicalQueue, Place, TopicMapping
from backend.domain.logical_queue.segment import QueueBounds, SegmentStatus
from backend.domain.names import check_cluster_name, check_topic_name
from backend.domain.page import Page, check_page_size, cut_page, search_text
from backend.services.consumer_group.observations import find_sampled_topic
from backend.services.samples import ObservedSample


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """Hold the first and the next logical offset of a queue; None if no sample shows them."""

    min_offset: int | None
    max_offset: int | None


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


def sampled_bounds(
    mapping: TopicMapping, samples: Sequence[ObservedSample]
) -> dict[Place, QueueBounds]:
    """Return the physical offsets of a topic's queues, as far as samples show them."""
    found = {}
    for name in mapping.counts:
        seen = find_sampled_topic(mapping.topic_name, name, samples)
        for queue in () if seen is None else seen[1].queues:
            found[name, queue.queue_id] = QueueBounds(queue.min_offset, queue.max_offset)
    return found


def statuses_of(
    queue: LogicalQueue, bounds: Mapping[Place, QueueBounds]
) -> dict[int, SegmentStatus]:
    """Return the status of each segment by its generation (logical-queues.md 3)."""
    return {
        one.generation: one.status(is_last=one is queue.leader, bounds=bounds.get(one.place))
        for one in queue.segments
    }


def ends_of(queue: LogicalQueue, bounds: Mapping[Place, QueueBounds]) -> QueueEnds:
    """Return the logical offsets between which messages of a queue are stored."""
    statuses = statuses_of(queue, bounds)
    expired = [one for one, status in statuses.items() if status is SegmentStatus.EXPIRED]
    oldest, newest = oldest_segment(queue, expired=expired), queue.leader
    low = None if oldest is None else bounds.get(oldest.place)
    high = None if newest is None else bounds.get(newest.place)
    return QueueEnds(
        None if low is None else min_offset(queue, low.min_offset, expired=expired),
        None if high is None else max_offset(queue, high.max_offset),
    )
