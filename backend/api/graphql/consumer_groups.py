"""Present consumer groups: who is there, and how far they are."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info, ObservationKey
from backend.api.graphql.pages import PageInfo, connect
from backend.api.graphql.protections import load_protection
from backend.api.graphql.scalars import Int64, int64
from backend.api.graphql.views import shown, shows
from backend.domain import consumer_group_lag as domain
from backend.domain.operation_errors import ConsumerGroupNotFound
from backend.domain.protection import Resource, ResourceKind
from backend.services import consumer_group_details as details
from backend.services import consumer_groups as service
from backend.views.consumer_groups import (
    GroupSettingsOut,
    LagOut,
    MemberOut,
    QueueLagOut,
    SubscriptionOut,
)
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut


@strawberry.type
class ConsumerGroup:
    """Present a consumer group of a list; its masters are asked only for what is selected."""

    cluster_name: strawberry.Private[str]
    name: str
    is_system: bool
    group_names: list[str]

    @shows(domain.GroupState)
    async def state(self, info: Info) -> domain.GroupState:
        """Tell whether somebody of the group is connected."""
        return (await self._observed(info)).state

    @strawberry.field
    async def broker_count_told(self, info: Info) -> int:
        """Count the brokers that told all; `state` and the counts are what these know."""
        return (await self._observed(info)).coverage.told_count

    @strawberry.field
    async def broker_count_asked(self, info: Info) -> int:
        """Count the brokers that may know something of the group."""
        return (await self._observed(info)).coverage.asked_count

    @strawberry.field
    async def member_count(self, info: Info) -> int:
        """Count the clients of the group."""
        return len((await self._observed(info)).client_ids)

    @shows(LagOut)
    async def lag(self, info: Info) -> LagOut:
        """Add up what the group has not read."""
        return LagOut.of((await self._observed(info)).lag)

    @shows(LagOut)
    async def retry_lag(self, info: Info) -> LagOut:
        """Add up what waits for another attempt."""
        return LagOut.of((await self._observed(info)).retry_lag)

    @shows(list[UnknownBrokerOut])
    async def unknown(self, info: Info) -> list[UnknownBrokerOut]:
        """Name the brokers that did not tell all of this group."""
        return [UnknownBrokerOut.of(one) for one in (await self._observed(info)).unknown]

    @shows(ProtectionOut | None)
    async def protection(self, info: Info) -> ProtectionOut | None:
        """Tell who protects it from deletion; null where nobody does."""
        resource = Resource(self.cluster_name, ResourceKind.CONSUMER_GROUP, self.name)
        return await load_protection(info, resource)

    async def _observed(self, info: Info) -> service.Observation:
        key = ObservationKey(self.cluster_name, self.name)
        return await info.context.loaders.observations.load(key)


@strawberry.type
class ConsumerGroups:
    """Present one page of consumer groups, and the brokers that did not tell theirs."""

    nodes: list[ConsumerGroup]
    page_info: PageInfo
    total_count: int
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])
    observed_at: datetime


@strawberry.type
class ConsumerGroupDetail:
    """Present a consumer group with its members, settings and queues.

    `state` and `deadLetterCount` are of the brokers that told, `brokerCountTold` of
    `brokerCountAsked`; null is that none did.
    """

    cluster_name: strawberry.Private[str]
    name: str
    is_system: bool
    state: domain.GroupState = shown(domain.GroupState)
    broker_count_told: int
    broker_count_asked: int
    models: list[str]
    lag: LagOut = shown(LagOut)
    retry_lag: LagOut = shown(LagOut)
    dead_letter_count: Int64 | None
    is_dead_letter_count_complete: bool
    settings: list[GroupSettingsOut] = shown(list[GroupSettingsOut])
    members: list[MemberOut] = shown(list[MemberOut])
    subscriptions: list[SubscriptionOut] = shown(list[SubscriptionOut])
    queues: list[QueueLagOut] = shown(list[QueueLagOut])
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])
    version: str
    observed_at: datetime

    @shows(ProtectionOut | None)
    async def protection(self, info: Info) -> ProtectionOut | None:
        """Tell who protects it from deletion; null where nobody does."""
        resource = Resource(self.cluster_name, ResourceKind.CONSUMER_GROUP, self.name)
        return await load_protection(info, resource)

    @classmethod
    def of(cls, cluster_name: str, found: details.GroupDetail) -> Self:
        """Present a group of a cluster."""
        told = found.observation
        return cls(
            cluster_name=cluster_name,
            name=told.name,
            is_system=told.is_system,
            state=told.state,
            broker_count_told=told.coverage.told_count,
            broker_count_asked=told.coverage.asked_count,
            models=list(found.models),
            lag=LagOut.of(told.lag),
            retry_lag=LagOut.of(told.retry_lag),
            dead_letter_count=int64(found.dead_letter_count),
            is_dead_letter_count_complete=found.is_dead_letter_count_complete,
            settings=[
                GroupSettingsOut.of(name, one) for name, one in sorted(found.settings.items())
            ],
            members=[MemberOut.of(one) for one in found.members],
            subscriptions=[
                SubscriptionOut(topic=topic, expressions=list(expressions))
                for topic, expressions in found.subscriptions.items()
            ],
            queues=[QueueLagOut.of(one) for one in found.queues],
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
            version=found.version,
            observed_at=told.observed_at,
        )


@strawberry.type
class ConsumerGroupQuery:
    """Ask for consumer groups."""

    @strawberry.field
    async def consumer_groups(
        self,
        info: Info,
        cluster_name: str,
        first: int = 50,
        after: str | None = None,
        search: str | None = None,
        *,
        includes_system: bool = False,
    ) -> ConsumerGroups:
        """List a cluster's consumer groups by name, as its masters report them now."""
        api = info.context.api
        found = await service.list_consumer_groups(
            cluster_name,
            size=first,
            after=decode_cursor(after, str),
            search=search,
            includes_system=includes_system,
            censuses=api.censuses,
        )
        page = connect(
            found.page,
            lambda one: ConsumerGroup(
                cluster_name=cluster_name,
                name=one.name,
                is_system=one.is_system,
                group_names=list(one.group_names),
            ),
        )
        return ConsumerGroups(
            nodes=page.nodes,
            page_info=page.page_info,
            total_count=page.total_count,
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
            observed_at=found.observed_at,
        )

    @strawberry.field
    async def consumer_group(
        self, info: Info, cluster_name: str, name: str
    ) -> ConsumerGroupDetail | None:
        """Describe one consumer group with its members and each queue that it reads."""
        api = info.context.api
        try:
            found = await details.describe_consumer_group(
                cluster_name, name, censuses=api.censuses, brokers=api.brokers, clock=api.clock
            )
        except ConsumerGroupNotFound:
            return None
        return ConsumerGroupDetail.of(cluster_name, found)
