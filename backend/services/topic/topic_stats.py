"""List what topics take in and how far their readers are, from what was observed before.

Nobody is asked: rates are of the newest samples, lags of when they were last measured.
"""

from dataclasses import dataclass

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.clients.losable import read_losable
from backend.db import clusters, recorded_lags
from backend.db.engine import Database
from backend.domain.names import check_cluster_name
from backend.domain.page import Page
from backend.domain.recorded_lag import RecordedLag
from backend.domain.topic import Topic
from backend.services.consumer_group.observations import TopicRates, view_rates
from backend.services.samples import latest_samples
from backend.services.topic.topics import TopicFilter, list_topics


@dataclass(frozen=True, slots=True)
class TopicStats:
    """Hold what a topic takes in, and how far each consumer group that reads it was."""

    topic: Topic
    rates: TopicRates
    lags: tuple[RecordedLag, ...]


async def list_topic_stats(
    cluster_name: str,
    *,
    size: int,
    after: str | None,
    chosen: TopicFilter,
    database: Database,
    redis: Redis,
    clock: Clock,
) -> Page[TopicStats, str]:
    """List figures of a cluster's topics by name, in as many statements for many as for one.

    Raises:
        InvalidName: no cluster may be called so.
        ClusterNotFound: none is.
        InvalidPageSize: the page is empty or too large.
    """
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        cluster = await clusters.get(connection, cluster_name)
    pages = await list_topics(
        [cluster.id], size=size, after=after, chosen=chosen, database=database
    )
    page = pages[cluster.id]
    names = [one.name for one in page.items]
    async with database.connect() as connection:
        lags = await recorded_lags.list_of_topics(connection, cluster_name, names)
    samples = await read_losable(latest_samples(redis, cluster_name), unknown=[])
    now_ms = clock.now_ms()
    return page.map(
        lambda topic: TopicStats(
            topic,
            view_rates(topic.name, samples, now_ms=now_ms),
            tuple(one for one in lags if one.topic_name == topic.name),
        )
    )
