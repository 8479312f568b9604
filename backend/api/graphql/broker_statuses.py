"""Present what brokers show of themselves."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import PageInfo, connect
from backend.api.graphql.scalars import Int64, int64
from backend.api.graphql.unknown_brokers import UnknownBroker
from backend.services import broker_statuses as service
from backend.views.instants import told_instant


@strawberry.type
class BrokerFigure:
    """Present one figure under stock's name, as the broker writes it."""

    name: str
    value: str


@strawberry.type
class BrokerStatus:
    """Present a broker's own figures, by name."""

    address: str
    figures: list[BrokerFigure]
    observed_at: datetime


@strawberry.type
class ConsumedQueue:
    """Present how far a group is in a queue; `consumedAt` is of the last consumed message."""

    topic: str
    queue_id: int
    committed: Int64
    end: Int64
    lag: Int64 | None
    expired_count: Int64
    consumed_at: datetime | None


@strawberry.type
class GroupStats:
    """Present how far a consumer group is in its queues on one broker.

    `lag` is null where it is not known, and of a broadcasting group, which has none.
    """

    consumer_group: str
    is_broadcasting: bool
    lag: Int64 | None
    expired_count: Int64
    queues: list[ConsumedQueue]

    @classmethod
    def of(cls, stats: service.GroupStats) -> Self:
        """Present a group."""
        return cls(
            consumer_group=stats.consumer_group,
            is_broadcasting=stats.is_broadcasting,
            lag=int64(stats.lag),
            expired_count=Int64(stats.expired_count),
            queues=[
                ConsumedQueue(
                    topic=one.topic,
                    queue_id=one.queue_id,
                    committed=Int64(one.committed),
                    end=Int64(one.end),
                    lag=None if stats.is_broadcasting else int64(one.lag),
                    expired_count=Int64(0 if stats.is_broadcasting else one.expired_count),
                    consumed_at=told_instant(one.consumed_at_ms),
                )
                for one in stats.queues
            ],
        )


@strawberry.type
class ConsumeStats:
    """Present one page of groups; the broker is unknown where it did not tell all of them."""

    nodes: list[GroupStats]
    page_info: PageInfo
    total_count: int
    unknown: list[UnknownBroker]
    observed_at: datetime


@strawberry.type
class BrokerStatusQuery:
    """Ask brokers for what they show of themselves."""

    @strawberry.field
    async def broker_status(
        self, info: Info, cluster_name: str, group_name: str, broker_id: Int64
    ) -> BrokerStatus:
        """Describe a running broker by its own figures; the broker itself is asked."""
        api = info.context.api
        found = await service.describe_status(
            cluster_name,
            group_name,
            broker_id,
            database=api.database,
            brokers=api.brokers,
            clock=api.clock,
        )
        return BrokerStatus(
            address=found.broker.address,
            figures=[BrokerFigure(name=name, value=value) for name, value in found.figures.items()],
            observed_at=found.observed_at,
        )

    @strawberry.field
    async def broker_consume_stats(
        self,
        info: Info,
        cluster_name: str,
        group_name: str,
        broker_id: Int64,
        first: int = 50,
        after: str | None = None,
    ) -> ConsumeStats:
        """List how far consumer groups are on one broker; the broker itself is asked."""
        api = info.context.api
        found = await service.list_consume_stats(
            cluster_name,
            group_name,
            broker_id,
            size=first,
            after=decode_cursor(after, str),
            database=api.database,
            brokers=api.brokers,
            clock=api.clock,
        )
        page = connect(found.page, GroupStats.of)
        return ConsumeStats(
            nodes=page.nodes,
            page_info=page.page_info,
            total_count=page.total_count,
            unknown=[UnknownBroker.of(one) for one in found.unknown],
            observed_at=found.observed_at,
        )
