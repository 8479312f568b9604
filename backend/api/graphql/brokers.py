"""Present brokers and their groups."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.protections import load_protection
from backend.api.graphql.samples import BrokerSample
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import shows
from backend.domain import broker as domain
from backend.domain import broker_group as group_domain
from backend.domain.protection import broker_resource
from backend.services.heartbeats import BrokerKey
from backend.views.instants import instant
from backend.views.protections import ProtectionOut

BrokerRole = strawberry.enum(domain.BrokerRole, description=None)
BrokerState = strawberry.enum(domain.BrokerState, description=None)
GroupMode = strawberry.enum(group_domain.GroupMode, description=None)


@strawberry.type
class Broker:
    """Present one broker.

    One that is not registered is missing: a controller alone knows it, by the id that it keeps.
    """

    model: strawberry.Private[domain.Broker]
    id: strawberry.ID
    broker_id: Int64
    group_name: str
    role: domain.BrokerRole
    state: domain.BrokerState
    address: str
    ha_address: str | None
    registered_at: datetime
    is_registered: bool

    @strawberry.field
    async def last_heartbeat_at(self, info: Info) -> datetime | None:
        """Look up when the broker was last heard."""
        broker = self.model
        if not broker.is_registered:
            return broker.last_heard_at
        key = BrokerKey(broker.cluster_name, broker.group_name, broker.broker_id)
        heard_at_ms = await info.context.loaders.heartbeats.load(key)
        return None if heard_at_ms is None else instant(heard_at_ms)

    @shows(ProtectionOut | None)
    async def protection(self, info: Info) -> ProtectionOut | None:
        """Tell who protects it from being forgotten; null where nobody does."""
        broker = self.model
        resource = broker_resource(broker.cluster_name, broker.group_name, broker.address)
        return await load_protection(info, resource)

    @strawberry.field
    async def latest_sample(self, info: Info) -> BrokerSample | None:
        """Look up the broker's newest sample."""
        broker = self.model
        for sample in await info.context.loaders.samples.load(broker.cluster_name):
            if (sample.broker_name, sample.broker_id) == (broker.group_name, broker.broker_id):
                return BrokerSample.of(sample)
        return None

    @classmethod
    def of(cls, broker: domain.Broker) -> Self:
        """Present a broker."""
        return cls(
            model=broker,
            id=strawberry.ID(str(broker.id)),
            broker_id=Int64(broker.broker_id),
            group_name=broker.group_name,
            role=broker.role,
            state=broker.state,
            address=broker.address,
            ha_address=broker.ha_address,
            registered_at=broker.registered_at,
            is_registered=broker.is_registered,
        )


@strawberry.type
class BrokerGroup:
    """Present one broker group."""

    model: strawberry.Private[group_domain.BrokerGroup]
    id: strawberry.ID
    name: str
    cluster_name: str
    mode: group_domain.GroupMode

    @strawberry.field
    async def brokers(self, info: Info) -> list[Broker]:
        """List the group's brokers by id."""
        return [Broker.of(found) for found in await self._load(info)]

    @strawberry.field
    async def master(self, info: Info) -> Broker | None:
        """Find who takes writes."""
        found = group_domain.find_master(await self._load(info))
        return None if found is None else Broker.of(found)

    async def _load(self, info: Info) -> list[domain.Broker]:
        return await info.context.loaders.brokers.load(self.model.id)

    @classmethod
    def of(cls, group: group_domain.BrokerGroup) -> Self:
        """Present a group."""
        return cls(
            model=group,
            id=strawberry.ID(str(group.id)),
            name=group.name,
            cluster_name=group.cluster_name,
            mode=group.mode,
        )
