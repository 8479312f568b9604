"""Answer over REST how well broker groups can do their work, and what is missing."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from backend.api.context import Context, Within, listener_of
from backend.api.permissions import reaches
from backend.api.rest.errors import NOT_FOUND
from backend.domain.access import Reach
from backend.domain.health import HealthVerdict, WriterFault
from backend.services.health import describe_health

router = APIRouter(prefix="/health", tags=["health"])


class _Out(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class MissingBrokerOut(_Out):
    """A broker that is not there; null is a heartbeat that is not known."""

    broker_id: int
    name: str
    address: str
    last_heard_at: datetime | None


class GroupHealthOut(_Out):
    """How well one broker group can do its work, and what one more failure would cost.

    `has_writer` is null where it can't be known. `writer_fault` says why there is none.
    """

    cluster_name: str
    group_name: str
    verdict: HealthVerdict
    sentence: str
    next_failure: str
    replica_count: int
    alive_count: int
    has_writer: bool | None
    writer_fault: WriterFault | None
    missing: list[MissingBrokerOut]


class HealthOut(BaseModel):
    """How well all broker groups can do their work, the worst group first."""

    verdict: HealthVerdict
    sentence: str
    next_failure: str | None
    replica_count: int
    alive_count: int
    observed_at: datetime
    groups: list[GroupHealthOut]


@router.get("", responses=NOT_FOUND)
@reaches(Reach.KEPT)
async def show_health(
    context: Context,
    within: Within,
    cluster_name: Annotated[str | None, Query(max_length=300)] = None,
) -> HealthOut:
    """Judge the health of all broker groups, or of those of one cluster."""
    observed = await describe_health(
        cluster_name=cluster_name,
        within=within,
        listener=listener_of(context),
        database=context.database,
        redis=context.redis,
        clock=context.clock,
    )
    health = observed.health
    return HealthOut(
        verdict=health.verdict,
        sentence=health.sentence,
        next_failure=health.next_failure,
        replica_count=health.replica_count,
        alive_count=health.alive_count,
        observed_at=observed.observed_at,
        groups=[GroupHealthOut.model_validate(group) for group in health.groups],
    )
