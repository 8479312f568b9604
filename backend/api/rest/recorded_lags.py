"""Answer over REST how far consumer groups were when that was last measured."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, page_out
from backend.domain.names import check_cluster_name
from backend.domain.recorded_lag import RecordedLag
from backend.services.recorded_lags import list_lags

router = APIRouter(prefix="/clusters/{cluster_name}", tags=["consumer groups"])


class RecordedLagOut(BaseModel):
    """How many messages a group has left in a topic, and since when that is known.

    That is of `queue_count` queues; the topic has `topic_queue_count`, null where it is not known.
    """

    consumer_group: str
    topic_name: str
    queue_count: int
    topic_queue_count: int | None
    lag: int
    expired_count: int
    measured_at: datetime


@router.get("/recorded-lags", responses=NOT_FOUND)
async def show_recorded_lags(
    cluster_name: str, context: Context, limit: Limit = 100, after: After = None
) -> PageOut[RecordedLagOut]:
    """List how far consumer groups are, by group and topic; brokers are not asked for it."""
    page = await list_lags(
        check_cluster_name(cluster_name),
        size=limit,
        after=decode_cursor(after, tuple[str, str]),
        database=context.database,
    )
    return page_out(page, _out)


def _out(one: RecordedLag) -> RecordedLagOut:
    return RecordedLagOut(
        consumer_group=one.consumer_group,
        topic_name=one.topic_name,
        queue_count=one.queue_count,
        topic_queue_count=one.topic_queue_count,
        lag=one.lag,
        expired_count=one.expired_count,
        measured_at=one.measured_at,
    )
