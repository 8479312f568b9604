"""Present figures of topics: offsets, rates and lags, clusters, who would read what."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.scalars import Int64, int64
from backend.api.graphql.views import shown
from backend.domain import queue_allocation as allocation
from backend.domain import topic as domain
from backend.services import topic_stats as stats_service
from backend.services.queue_allocations import compare_allocations
from backend.services.topic_offsets import list_offsets
from backend.services.topics import TopicFilter, list_holding_clusters
from backend.views.instants import told_instant
from backend.views.unknown_brokers import UnknownBrokerOut

AllocationRule = strawberry.enum(allocation.AllocationRule, description=None)


@strawberry.type
class QueueEnds:
    """Present where a queue begins and ends; `storedAt` is of its newest message."""

    group_name: str
    queue_id: int
    min_offset: Int64
    max_offset: Int64
    stored_at: datetime | None


@strawberry.type
class TopicOffsets:
    """Present the ends of a topic's queues.

    `messageCount` is of the brokers that told, null when none did; where it is not complete there
    may be more.
    """

    message_count: Int64 | None
    is_complete: bool
    queues: list[QueueEnds]
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])
    observed_at: datetime


@strawberry.type
class HoldingCluster:
    """Present a cluster that holds a topic of the name, and its broker groups that do."""

    cluster_name: str
    kind: domain.TopicKind
    group_names: list[str]


@strawberry.type
class ReaderLag:
    """Present how far a consumer group was in a topic when that was last measured."""

    consumer_group: str
    lag: Int64
    measured_at: datetime


@strawberry.type
class TopicStats:
    """Present what a topic takes in now, null while unknown, and how far its readers were."""

    name: str
    kind: domain.TopicKind
    messages_in_per_second: float | None
    bytes_in_per_second: float | None
    readers: list[ReaderLag]

    @classmethod
    def of(cls, stats: stats_service.TopicStats) -> Self:
        """Present figures."""
        return cls(
            name=stats.topic.name,
            kind=stats.topic.kind,
            messages_in_per_second=stats.rates.messages_in_per_second,
            bytes_in_per_second=stats.rates.bytes_in_per_second,
            readers=[
                ReaderLag(
                    consumer_group=one.consumer_group,
                    lag=Int64(one.lag),
                    measured_at=one.measured_at,
                )
                for one in stats.lags
            ],
        )


@strawberry.type
class AllocatedQueue:
    """Present a queue of a broker group."""

    group_name: str
    queue_id: int


@strawberry.type
class ClientQueues:
    """Present what one client would read."""

    client_id: str
    queues: list[AllocatedQueue]


@strawberry.type
class QueueAllocation:
    """Present what each client would read by one rule."""

    rule: allocation.AllocationRule
    clients: list[ClientQueues]


@strawberry.type
class TopicFigureQuery:
    """Ask for figures of topics."""

    @strawberry.field
    async def topic_offsets(self, info: Info, cluster_name: str, topic_name: str) -> TopicOffsets:
        """Tell where a topic's queues begin and end; the masters that hold it are asked."""
        api = info.context.api
        found = await list_offsets(
            cluster_name, topic_name, database=api.database, brokers=api.brokers, clock=api.clock
        )
        return TopicOffsets(
            message_count=int64(found.message_count),
            is_complete=found.is_complete,
            queues=[
                QueueEnds(
                    group_name=group_name,
                    queue_id=queue_id,
                    min_offset=Int64(one.low),
                    max_offset=Int64(one.high),
                    stored_at=told_instant(one.stored_at_ms),
                )
                for (group_name, queue_id), one in found.queues.items()
            ],
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
            observed_at=found.observed_at,
        )

    @strawberry.field
    async def holding_clusters(self, info: Info, topic_name: str) -> list[HoldingCluster]:
        """List the clusters that hold a topic of a name."""
        context = info.context
        found = await list_holding_clusters(
            topic_name, within=context.within, database=context.api.database
        )
        return [
            HoldingCluster(
                cluster_name=topic.cluster_name,
                kind=topic.kind,
                group_names=sorted(one.group_name for one in placements),
            )
            for topic, placements in found
        ]

    @strawberry.field
    async def topic_stats(
        self,
        info: Info,
        cluster_name: str,
        first: int = 50,
        after: str | None = None,
        search: str | None = None,
        kind: domain.TopicKind | None = None,
    ) -> Connection[TopicStats]:
        """List what topics take in and how far their readers were; no broker is asked."""
        api = info.context.api
        page = await stats_service.list_topic_stats(
            cluster_name,
            size=first,
            after=decode_cursor(after, str),
            chosen=TopicFilter(search, kind),
            database=api.database,
            redis=api.redis,
            clock=api.clock,
        )
        return connect(page, TopicStats.of)

    @strawberry.field
    async def queue_allocations(
        self, info: Info, cluster_name: str, topic_name: str, client_ids: list[str]
    ) -> list[QueueAllocation]:
        """Tell which client would read which queue, by each rule that clients may have."""
        found = await compare_allocations(
            cluster_name, topic_name, client_ids, database=info.context.api.database
        )
        return [
            QueueAllocation(
                rule=rule,
                clients=[
                    ClientQueues(
                        client_id=client_id,
                        queues=[
                            AllocatedQueue(group_name=one.group_name, queue_id=one.queue_id)
                            for one in queues
                        ],
                    )
                    for client_id, queues in dealt.items()
                ],
            )
            for rule, dealt in found.items()
        ]
