"""Ask for static topics and their logical queues."""

from redis.asyncio import Redis

from backend.brokers.asking import Brokers
from backend.clients.losable import read_losable
from backend.db.engine import Database
from backend.domain.logical_queue.errors import StaticTopicNotFound
from backend.domain.page import Page
from backend.questions.question import After, InBrokerGroup, Limit, Search, question
from backend.services.consumer_group.observations import sampled_bounds
from backend.services.logical_queue.consistency import check_static_topic
from backend.services.logical_queue.logical_queues import (
    describe_logical_queues,
    list_static_topics,
)
from backend.services.samples import latest_samples
from backend.views.logical_queues import LogicalQueuesOut, StaticTopicOut
from backend.views.static_topic_checks import StaticTopicCheckOut


@question(
    "/clusters/{cluster_name}/static-topics",
    field="staticTopics",
    tag="topics",
    refusals=(404,),
)
async def show_static_topics(
    cluster_name: str,
    limit: Limit = 100,
    after: After[str] = None,
    search: Search = None,
    broker_group_name: InBrokerGroup = None,
    *,
    database: Database,
) -> Page[StaticTopicOut, str]:
    """List the static topics of a cluster by name, with the broker groups of their queues."""
    page = await list_static_topics(
        cluster_name,
        size=limit,
        after=after,
        search=search,
        broker_group_name=broker_group_name,
        database=database,
    )
    return page.map(StaticTopicOut.of)


@question(
    "/clusters/{cluster_name}/topics/{topic_name}/logical-queues",
    field="logicalQueues",
    tag="topics",
    refusals=(404,),
    absences=(StaticTopicNotFound,),
)
async def show_logical_queues(
    cluster_name: str, topic_name: str, *, database: Database, redis: Redis
) -> LogicalQueuesOut:
    """Show the segments of a static topic's logical queues, and its unfinished change."""
    stored = await describe_logical_queues(cluster_name, topic_name, database=database)
    samples = await read_losable(latest_samples(redis, cluster_name), unknown=[])
    return LogicalQueuesOut.of(stored, sampled_bounds(stored.mapping, samples))


@question(
    "/clusters/{cluster_name}/topics/{topic_name}/logical-queues/check",
    field="staticTopicCheck",
    tag="topics",
    refusals=(404,),
    absences=(StaticTopicNotFound,),
)
async def show_static_topic_check(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers
) -> StaticTopicCheckOut:
    """Compare what Postgres, all brokers and all name servers hold of a static topic now."""
    found = await check_static_topic(cluster_name, topic_name, database=database, brokers=brokers)
    return StaticTopicCheckOut.of(found)
