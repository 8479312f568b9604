"""Answer over REST what clusters took in and gave out lately."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from backend.api.context import Context, Within
from backend.api.permissions import reaches
from backend.api.rest.errors import NOT_FOUND
from backend.domain.access import Reach
from backend.domain.names import CLUSTER_NAME_BYTES_MAX, check_cluster_name
from backend.services.samples.rate_history import MINUTES_MAX, RatePoint, show_rates

router = APIRouter(prefix="/rates", tags=["clusters"])

Name = Annotated[str | None, Query(max_length=CLUSTER_NAME_BYTES_MAX)]


class RatesOut(BaseModel):
    """What clusters took in and gave out together at one time; null is what nobody knows."""

    observed_at: datetime
    messages_in_per_second: float | None
    messages_out_per_second: float | None
    bytes_in_per_second: float | None
    bytes_out_per_second: float | None


@router.get("", responses=NOT_FOUND)
@reaches(Reach.KEPT)
async def list_rates(
    context: Context,
    within: Within,
    minutes: Annotated[int, Query(ge=1, le=MINUTES_MAX)] = 60,
    cluster: Name = None,
) -> list[RatesOut]:
    """List what all clusters within reach, or one, took in and gave out in the last minutes.

    That is every few seconds, beyond an hour the mean of every five minutes.
    """
    points = await show_rates(
        minutes,
        cluster_name=None if cluster is None else check_cluster_name(cluster),
        within=within,
        redis=context.redis,
        database=context.database,
        clock=context.clock,
    )
    return [_out(point) for point in points]


def _out(point: RatePoint) -> RatesOut:
    return RatesOut(
        observed_at=datetime.fromtimestamp(point.at_ms / 1000, UTC),
        messages_in_per_second=point.rates.messages_in,
        messages_out_per_second=point.rates.messages_out,
        bytes_in_per_second=point.rates.bytes_in,
        bytes_out_per_second=point.rates.bytes_out,
    )
