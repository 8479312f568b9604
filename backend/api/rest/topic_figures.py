"""Answer figures of topics over REST: offsets, rates and lags, clusters, who would read what."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from backend.api.context import Context, Within
from backend.api.cursors import decode_cursor
from backend.api.permissions import reaches
from backend.api.rest.errors import COMMON, NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, Search, page_out
from backend.domain.access import Reach
from backend.domain.queue_allocation import AllocationRule
from backend.domain.topic import TopicKind
from backend.services.queue_allocations import (
    CLIENT_COUNT_MAX,
    CLIENT_ID_LENGTH_MAX,
    compare_allocations,
)
from backend.services.topic_offsets import list_offsets
from backend.services.topic_stats import TopicStats, list_topic_stats
from backend.services.topics import TopicFilter, list_holding_clusters
from backend.views.instants import told_instant
from backend.views.unknown_brokers import UnknownBrokerOut

router = APIRouter(tags=["topics"])


class QueueEndsOut(BaseModel):
    """Where a queue begins and ends; `stored_at` is of its newest message, null without one."""

    group_name: str
    queue_id: int
    min_offset: int
    max_offset: int
    stored_at: datetime | None


class TopicOffsetsOut(BaseModel):
    """The ends of a topic's queues now.

    `message_count` is of the brokers that told, null when none did; where it is not complete there
    may be more.
    """

    message_count: int | None
    is_complete: bool
    queues: list[QueueEndsOut]
    unknown: list[UnknownBrokerOut]
    observed_at: datetime


class HoldingClusterOut(BaseModel):
    """A cluster that holds a topic of the name, and its broker groups that do."""

    cluster_name: str
    kind: TopicKind
    group_names: list[str]


class ReaderLagOut(BaseModel):
    """How far a consumer group was in the topic when that was last measured, in messages."""

    consumer_group: str
    lag: int
    measured_at: datetime


class TopicStatsOut(BaseModel):
    """What a topic takes in now, null while unknown, and how far its readers were."""

    name: str
    kind: TopicKind
    messages_in_per_second: float | None
    bytes_in_per_second: float | None
    readers: list[ReaderLagOut]


class AllocatedQueueOut(BaseModel):
    """A queue of a broker group."""

    group_name: str
    queue_id: int


class AllocationOut(BaseModel):
    """What each client would read by one rule."""

    rule: AllocationRule
    clients: dict[str, list[AllocatedQueueOut]]


ClientIds = Annotated[
    list[Annotated[str, Query(min_length=1, max_length=CLIENT_ID_LENGTH_MAX)]],
    Query(
        alias="client",
        min_length=1,
        max_length=CLIENT_COUNT_MAX,
        description="The ids of the clients, once for each.",
    ),
]


@router.get("/clusters/{cluster_name}/topics/{topic_name}/offsets", responses=NOT_FOUND)
async def show_topic_offsets(
    cluster_name: str, topic_name: str, context: Context
) -> TopicOffsetsOut:
    """Tell where a topic's queues begin and end; the masters that hold it are asked."""
    found = await list_offsets(
        cluster_name,
        topic_name,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return TopicOffsetsOut(
        message_count=found.message_count,
        is_complete=found.is_complete,
        queues=[
            QueueEndsOut(
                group_name=group_name,
                queue_id=queue_id,
                min_offset=one.low,
                max_offset=one.high,
                stored_at=told_instant(one.stored_at_ms),
            )
            for (group_name, queue_id), one in found.queues.items()
        ],
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        observed_at=found.observed_at,
    )


@router.get("/topics/{topic_name}/clusters", responses=COMMON)
@reaches(Reach.KEPT)
async def show_holding_clusters(
    topic_name: str, context: Context, within: Within
) -> list[HoldingClusterOut]:
    """List the clusters that hold a topic of a name."""
    found = await list_holding_clusters(topic_name, within=within, database=context.database)
    return [
        HoldingClusterOut(
            cluster_name=topic.cluster_name,
            kind=topic.kind,
            group_names=sorted(one.group_name for one in placements),
        )
        for topic, placements in found
    ]


@router.get("/clusters/{cluster_name}/topic-stats", responses=NOT_FOUND)
async def show_topic_stats(
    cluster_name: str,
    context: Context,
    search: Search = None,
    kind: TopicKind | None = None,
    limit: Limit = 50,
    after: After = None,
) -> PageOut[TopicStatsOut]:
    """List what topics take in and how far their readers were, by name; no broker is asked."""
    page = await list_topic_stats(
        cluster_name,
        size=limit,
        after=decode_cursor(after, str),
        chosen=TopicFilter(search, kind),
        database=context.database,
        redis=context.redis,
        clock=context.clock,
    )
    return page_out(page, _stats_out)


@router.get("/clusters/{cluster_name}/topics/{topic_name}/allocations", responses=NOT_FOUND)
async def show_allocations(
    cluster_name: str, topic_name: str, client_ids: ClientIds, context: Context
) -> list[AllocationOut]:
    """Tell which client would read which queue, by each rule that clients may have."""
    found = await compare_allocations(
        cluster_name, topic_name, client_ids, database=context.database
    )
    return [
        AllocationOut(
            rule=rule,
            clients={
                client_id: [
                    AllocatedQueueOut(group_name=one.group_name, queue_id=one.queue_id)
                    for one in queues
                ]
                for client_id, queues in allocation.items()
            },
        )
        for rule, allocation in found.items()
    ]


def _stats_out(stats: TopicStats) -> TopicStatsOut:
    return TopicStatsOut(
        name=stats.topic.name,
        kind=stats.topic.kind,
        messages_in_per_second=stats.rates.messages_in_per_second,
        bytes_in_per_second=stats.rates.bytes_in_per_second,
        readers=[
            ReaderLagOut(
                consumer_group=one.consumer_group, lag=one.lag, measured_at=one.measured_at
            )
            for one in stats.lags
        ],
    )
