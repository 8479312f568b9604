"""Present in the graph how well broker groups can do their work, and what is missing."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.context import listener_of
from backend.api.graphql.context import Info
from backend.api.graphql.views import shown
from backend.domain import health as domain
from backend.domain.names import check_cluster_name
from backend.services.health import ObservedHealth, describe_health
from backend.views.health import GroupHealthOut


@strawberry.type
class Health:
    """Present how well all broker groups can do their work.

    `troubled` are the groups that are not healthy, the worst first.
    """

    verdict: domain.HealthVerdict
    sentence: str
    next_failure: str | None
    group_count: int
    replica_count: int
    alive_count: int
    observed_at: datetime
    troubled: list[GroupHealthOut] = shown(list[GroupHealthOut])

    @classmethod
    def of(cls, observed: ObservedHealth) -> Self:
        """Present a judgement."""
        health = observed.health
        return cls(
            verdict=health.verdict,
            sentence=health.sentence,
            next_failure=health.next_failure,
            group_count=len(health.groups),
            replica_count=health.replica_count,
            alive_count=health.alive_count,
            observed_at=observed.observed_at,
            troubled=[
                GroupHealthOut.of(group)
                for group in health.groups
                if group.verdict is not domain.HealthVerdict.HEALTHY
            ],
        )


@strawberry.type
class HealthQuery:
    """Ask how things stand."""

    @strawberry.field
    async def health(self, info: Info, *, cluster_name: str | None = None) -> Health:
        """Judge the health of all broker groups, or of those of one cluster."""
        api = info.context.api
        name = None if cluster_name is None else check_cluster_name(cluster_name)
        observed = await describe_health(
            cluster_name=name,
            within=info.context.within,
            listener=listener_of(api),
            database=api.database,
            redis=api.redis,
            clock=api.clock,
        )
        return Health.of(observed)
