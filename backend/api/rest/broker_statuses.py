"""Answer what brokers show of themselves over REST."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import SILENT
from backend.api.rest.pages import After, PageOut, page_out
from backend.api.rest.unknown_brokers import UnknownBrokerOut, unknown_out
from backend.domain.queue_reading import QueueProgress
from backend.services.broker_statuses import (
    PAGE_SIZE_MAX,
    GroupStats,
    describe_status,
    list_consume_stats,
)
from backend.views.instants import told_instant

router = APIRouter(tags=["brokers"])

BrokerId = Annotated[int, Path(ge=0, le=2**63 - 1)]
Limit = Annotated[int, Query(ge=1, le=PAGE_SIZE_MAX, description="How many items at most.")]


class BrokerStatusOut(BaseModel):
    """A broker's figures under stock's names, as the broker writes them."""

    address: str
    figures: dict[str, str]
    observed_at: datetime


class ConsumedQueueOut(BaseModel):
    """How far a group is in a queue; `consumed_at` is of the last consumed message."""

    topic: str
    queue_id: int
    committed: int
    end: int
    lag: int | None
    expired_count: int
    consumed_at: datetime | None


class GroupStatsOut(BaseModel):
    """How far a consumer group is in its queues on one broker.

    `lag` is null where it is not known, and of a broadcasting group, which has none.
    """

    consumer_group: str
    is_broadcasting: bool
    lag: int | None
    expired_count: int
    queues: list[ConsumedQueueOut]


class ConsumeStatsOut(PageOut[GroupStatsOut]):
    """One page of groups by name; the broker is unknown where it did not tell all of them."""

    unknown: list[UnknownBrokerOut]
    observed_at: datetime


@router.get(
    "/clusters/{cluster_name}/broker-groups/{group_name}/brokers/{broker_id}/status",
    responses=SILENT,
)
async def show_broker_status(
    cluster_name: str, group_name: str, broker_id: BrokerId, context: Context
) -> BrokerStatusOut:
    """Describe a running broker by its own figures; the broker itself is asked."""
    found = await describe_status(
        cluster_name,
        group_name,
        broker_id,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return BrokerStatusOut(
        address=found.broker.address, figures=dict(found.figures), observed_at=found.observed_at
    )


@router.get(
    "/clusters/{cluster_name}/broker-groups/{group_name}/brokers/{broker_id}/consume-stats",
    responses=SILENT,
)
async def show_consume_stats(
    cluster_name: str,
    group_name: str,
    broker_id: BrokerId,
    context: Context,
    limit: Limit = 50,
    after: After = None,
) -> ConsumeStatsOut:
    """List how far consumer groups are on one broker, by name; the broker itself is asked."""
    found = await list_consume_stats(
        cluster_name,
        group_name,
        broker_id,
        size=limit,
        after=decode_cursor(after, str),
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    page = page_out(found.page, _group_out)
    return ConsumeStatsOut(
        items=page.items,
        next=page.next,
        total_count=page.total_count,
        unknown=[unknown_out(one) for one in found.unknown],
        observed_at=found.observed_at,
    )


def _group_out(stats: GroupStats) -> GroupStatsOut:
    return GroupStatsOut(
        consumer_group=stats.consumer_group,
        is_broadcasting=stats.is_broadcasting,
        lag=stats.lag,
        expired_count=stats.expired_count,
        queues=[_queue_out(one, stats) for one in stats.queues],
    )


def _queue_out(queue: QueueProgress, stats: GroupStats) -> ConsumedQueueOut:
    return ConsumedQueueOut(
        topic=queue.topic,
        queue_id=queue.queue_id,
        committed=queue.committed,
        end=queue.end,
        lag=None if stats.is_broadcasting else queue.lag,
        expired_count=0 if stats.is_broadcasting else queue.expired_count,
        consumed_at=told_instant(queue.consumed_at_ms),
    )
