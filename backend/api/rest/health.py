"""Answer over REST how well broker groups can do their work, and what is missing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from backend.api.context import Context, Within, listener_of
from backend.api.permissions import reaches
from backend.api.rest.errors import NOT_FOUND
from backend.domain.access import Reach
from backend.domain.health import HealthVerdict
from backend.services.health import describe_health
from backend.views.health import GroupHealthOut

router = APIRouter(prefix="/health", tags=["health"])


@dataclass(frozen=True, slots=True)
class HealthOut:
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
        groups=[GroupHealthOut.of(group) for group in health.groups],
    )
