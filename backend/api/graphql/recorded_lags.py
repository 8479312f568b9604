"""Present in the graph how far consumer groups were when that was last measured."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.scalars import Int64
from backend.domain import recorded_lag as domain
from backend.domain.names import check_cluster_name
from backend.services.recorded_lags import list_lags


@strawberry.type
class RecordedLag:
    """Present how many messages a group has left in a topic, and since when that is known.

    That is of `queueCount` queues; the topic has `topicQueueCount`, where that is known.
    """

    consumer_group: str
    topic_name: str
    queue_count: int
    topic_queue_count: int | None
    lag: Int64
    expired_count: Int64
    measured_at: datetime

    @classmethod
    def of(cls, one: domain.RecordedLag) -> Self:
        """Present a lag."""
        return cls(
            consumer_group=one.consumer_group,
            topic_name=one.topic_name,
            queue_count=one.queue_count,
            topic_queue_count=one.topic_queue_count,
            lag=Int64(one.lag),
            expired_count=Int64(one.expired_count),
            measured_at=one.measured_at,
        )


@strawberry.type
class RecordedLagQuery:
    """Ask how far consumer groups are."""

    @strawberry.field
    async def recorded_lags(
        self, info: Info, cluster_name: str, first: int = 100, after: str | None = None
    ) -> Connection[RecordedLag]:
        """List how far consumer groups are, by group and topic; brokers are not asked for it."""
        page = await list_lags(
            check_cluster_name(cluster_name),
            size=first,
            after=decode_cursor(after, tuple[str, str]),
            database=info.context.api.database,
        )
        return connect(page, RecordedLag.of)
