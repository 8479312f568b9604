"""List the rates of topics and the lag of their readers, from earlier observations.

No broker is asked: rates are from the newest samples, and lags from the last measurement.
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
    """Hold the rates of a topic, and the recorded lag of each consumer group that reads it."""

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
    """List figures of the topics of a cluster by name, with as many statements as for one topic.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
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
