"""Ask for topics."""

from collections.abc import Callable

from redis.asyncio import Redis

from backend.clients.clock import Clock
from backend.clients.losable import read_losable
from backend.db.engine import Database
from backend.domain.page import Page
from backend.domain.protection import Resource, ResourceKind
from backend.domain.route import TopicRoute
from backend.domain.topic import Topic, TopicKind
from backend.questions.question import After, Limit, Search, question
from backend.services.cluster.clusters import describe_cluster
from backend.services.consumer_group.observations import view_queues, view_rates
from backend.services.logical_queue.logical_queues import find_mappings
from backend.services.protections import find_protections
from backend.services.samples import latest_samples
from backend.services.topic.topics import (
    TopicFilter,
    describe_topic,
    list_placements,
    list_topics,
    topic_version,
)
from backend.views.copying import copied
from backend.views.topics import PlacementOut, QueueOut, TopicDetailOut, TopicOut, show_route

TOPICS = "/clusters/{cluster_name}/topics"


@question(TOPICS, field="Cluster.topics", tag="topics", refusals=(404,))
async def show_topics(
    cluster_name: str,
    search: Search = None,
    kind: TopicKind | None = None,
    limit: Limit = 50,
    after: After[str] = None,
    *,
    database: Database,
) -> Page[TopicOut, str]:
    """List a cluster's topics by name."""
    cluster = await describe_cluster(cluster_name, database=database)
    chosen = TopicFilter(search, kind)
    pages = await list_topics(
        [cluster.id], size=limit, after=after, chosen=chosen, database=database
    )
    page = pages[cluster.id]
    resources = [_resource(topic) for topic in page.items]
    protected = await find_protections(resources, database=database)
    return page.map(lambda topic: TopicOut.of(topic, protected[_resource(topic)]))


@question(TOPICS + "/{topic_name}", field="Cluster.topic", tag="topics", refusals=(404,))
async def show_topic(
    cluster_name: str,
    topic_name: str,
    *,
    database: Database,
    redis: Redis,
    clock: Clock,
    find_route: Callable[[str], TopicRoute | None],
) -> TopicDetailOut:
    """Describe one topic with its queues and its route."""
    topic = await describe_topic(cluster_name, topic_name, database=database)
    placements = (await list_placements([topic.id], database=database))[topic.id]
    resource = _resource(topic)
    protected = await find_protections([resource], database=database)
    samples = await read_losable(latest_samples(redis, cluster_name), unknown=[])
    rates = view_rates(topic.name, samples, now_ms=clock.now_ms())
    key = cluster_name, topic.name
    mapping = (await find_mappings([key], database=database))[key]
    return copied(
        TopicDetailOut,
        TopicOut.of(topic, protected[resource]),
        version=topic_version(placements),
        placements=[PlacementOut.of(placement) for placement in placements],
        queues=[
            QueueOut.of(queue) for queue in view_queues(topic.name, placements, samples, mapping)
        ],
        route=show_route(find_route(topic.name), cluster_name),
        messages_in_per_second=rates.messages_in_per_second,
        bytes_in_per_second=rates.bytes_in_per_second,
    )


def _resource(topic: Topic) -> Resource:
    return Resource(topic.cluster_name, ResourceKind.TOPIC, topic.name)
