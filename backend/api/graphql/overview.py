"""Present who looks, and the whole at a glance."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.capacity import CapacityRow
from backend.api.graphql.context import Info
from backend.api.graphql.scalars import Int64
from backend.domain.access import Principal
from backend.domain.cluster import Census
from backend.domain.name_server import NameServerStatus
from backend.services.capacity_rows import find_soonest_full_disk


@strawberry.type
class Viewer:
    """Present who asks, in which role and with what, and until when.

    A cluster is within reach when its name fits a pattern of each of `clusterLimits`: the user's
    own, and those of their token. Without any, all are.
    """

    name: str
    role: str
    cluster_limits: list[list[str]]
    expires_at: datetime
    credential: str
    must_change_password: bool

    @classmethod
    def of(cls, principal: Principal) -> Self:
        """Present who asks."""
        return cls(
            name=principal.user_name,
            role=principal.role.value,
            cluster_limits=[list(limit) for limit in principal.clusters.limits],
            expires_at=principal.expires_at,
            credential=principal.credential.value,
            must_change_password=principal.must_change_password,
        )


@strawberry.type
class Overview:
    """Present how much there is."""

    cluster_count: int
    broker_group_count: int
    broker_count: int
    online_broker_count: int
    topic_count: int

    @strawberry.field
    async def soonest_full_disk(self, info: Info) -> CapacityRow | None:
        """Find the disk that the newest report expects to be full first."""
        context = info.context
        row = await find_soonest_full_disk(within=context.within, database=context.api.database)
        return None if row is None else CapacityRow.of(row)

    @classmethod
    def of(cls, census: Census) -> Self:
        """Present a census."""
        return cls(
            cluster_count=census.cluster_count,
            broker_group_count=census.broker_group_count,
            broker_count=census.broker_count,
            online_broker_count=census.online_broker_count,
            topic_count=census.topic_count,
        )


@strawberry.type
class NameServer:
    """Present a name server."""

    address: str
    started_at: datetime
    route_version: Int64
    topic_count: int
    broker_count: int
    connection_count: int

    @classmethod
    def of(cls, status: NameServerStatus) -> Self:
        """Present the status of a name server."""
        return cls(
            address=status.address,
            started_at=status.started_at,
            route_version=Int64(status.route_version),
            topic_count=status.topic_count,
            broker_count=status.broker_count,
            connection_count=status.connection_count,
        )
