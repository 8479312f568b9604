"""Ask for figures of topics: offsets, rates, lags, clusters, and allocations of queues."""

from typing import Annotated

from redis.asyncio import Redis

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.page import Page
from backend.domain.topic import TopicKind
from backend.questions.question import After, Given, Limit, Search, question
from backend.services.consumer_group.queue_allocations import (
    CLIENT_COUNT_MAX,
    CLIENT_ID_LENGTH_MAX,
    compare_allocations,
)
from backend.services.topic.topic_offsets import list_offsets
from backend.services.topic.topic_stats import list_topic_stats
from backend.services.topic.topics import TopicFilter, list_holding_clusters
from backend.views.topic_figures import (
    AllocationOut,
    HoldingClusterOut,
    TopicOffsetsOut,
    TopicStatsOut,
)

TOPIC = "/clusters/{cluster_name}/topics/{topic_name}"
ClientIds = Annotated[
    list[Annotated[str, Given(length_min=1, length_max=CLIENT_ID_LENGTH_MAX)]],
    Given(
        "The ids of the clients, once for each.",
        length_min=1,
        length_max=CLIENT_COUNT_MAX,
        rest_name="client",
    ),
]


@question(TOPIC + "/offsets", field="topicOffsets", tag="topics", refusals=(404,))
async def show_topic_offsets(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers, clock: Clock
) -> TopicOffsetsOut:
    """List the ends of the queues of a topic, as the masters report them now."""
    found = await list_offsets(
        cluster_name, topic_name, database=database, brokers=brokers, clock=clock
    )
    return TopicOffsetsOut.of(found)


@question("/topics/{topic_name}/clusters", field="holdingClusters", tag="topics", reach=Reach.KEPT)
async def show_holding_clusters(
    topic_name: str, *, within: ClusterScope, database: Database
) -> list[HoldingClusterOut]:
    """List the clusters that hold a topic of this name."""
    found = await list_holding_clusters(topic_name, within=within, database=database)
    return [HoldingClusterOut.of(topic, placements) for topic, placements in found]


@question("/clusters/{cluster_name}/topic-stats", field="topicStats", tag="topics", refusals=(404,))
async def show_topic_stats(
    cluster_name: str,
    search: Search = None,
    kind: TopicKind | None = None,
    limit: Limit = 50,
    after: After[str] = None,
    *,
    database: Database,
    redis: Redis,
    clock: Clock,
) -> Page[TopicStatsOut, str]:
    """List the rates of topics and the recorded lag of their readers, by name.

    No broker is asked.
    """
    page = await list_topic_stats(
        cluster_name,
        size=limit,
        after=after,
        chosen=TopicFilter(search, kind),
        database=database,
        redis=redis,
        clock=clock,
    )
    return page.map(TopicStatsOut.of)


@question(TOPIC + "/allocations", field="queueAllocations", tag="topics", refusals=(404,))
async def show_allocations(
    cluster_name: str, topic_name: str, client_ids: ClientIds, *, database: Database
) -> list[AllocationOut]:
    """List the queues that each client would read, for each allocation rule."""
    found = await compare_allocations(cluster_name, topic_name, client_ids, database=database)
    return [AllocationOut.of(rule, dealt) for rule, dealt in found.items()]
