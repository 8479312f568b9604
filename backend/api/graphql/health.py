"""Present in the graph how well broker groups can do their work, and what is missing."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.context import listener_of
from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.domain import health as domain
from backend.domain.names import check_cluster_name
from backend.services.health import ObservedHealth, describe_health

HealthVerdict = strawberry.enum(domain.HealthVerdict, description=None)
WriterFault = strawberry.enum(domain.WriterFault, description=None)


@strawberry.type
class MissingBroker:
    """Present a broker that is not there; null is a heartbeat that is not known."""

    broker_id: Int64
    name: str
    address: str
    last_heard_at: datetime | None


@strawberry.type
class GroupHealth:
    """Present how well one broker group can do its work, and what one more failure would cost.

    `hasWriter` is null where it can't be known. `writerFault` says why there is none.
    """

    cluster_name: str
    group_name: str
    verdict: domain.HealthVerdict
    sentence: str
    next_failure: str
    replica_count: int
    alive_count: int
    has_writer: bool | None
    writer_fault: domain.WriterFault | None
    missing: list[MissingBroker]

    @classmethod
    def of(cls, judged: domain.GroupHealth) -> Self:
        """Present a judgement."""
        return cls(
            cluster_name=judged.cluster_name,
            group_name=judged.group_name,
            verdict=judged.verdict,
            sentence=judged.sentence,
            next_failure=judged.next_failure,
            replica_count=judged.replica_count,
            alive_count=judged.alive_count,
            has_writer=judged.has_writer,
            writer_fault=judged.writer_fault,
            missing=[
                MissingBroker(
                    broker_id=Int64(one.broker_id),
                    name=one.name,
                    address=one.address,
                    last_heard_at=one.last_heard_at,
                )
                for one in judged.missing
            ],
        )


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
    troubled: list[GroupHealth]

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
                GroupHealth.of(group)
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
