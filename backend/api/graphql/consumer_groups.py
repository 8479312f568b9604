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
from backend.domain.client import version_name
from backend.domain.consumer_group import GroupSettings
from backend.domain.operation_errors import ConsumerGroupNotFound
from backend.domain.protection import Resource, ResourceKind
from backend.services import consumer_group_details as details
from backend.services import consumer_groups as service
from backend.views.instants import told_instant
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut

ConsumerGroupState = strawberry.enum(domain.GroupState, name="ConsumerGroupState", description=None)
LagQueueKind = strawberry.enum(domain.QueueKind, name="LagQueueKind", description=None)


@strawberry.type
class ConsumerLag:
    """Present how much is left to read, and the age of the oldest of it; null is unknown.

    `isComplete` is false when brokers or offsets of queues are not known, so it may be more.
    `expiredCount` counts the messages that were deleted before the group read them: they are no
    part of the lag. A lag that is not applicable is that of a broadcasting group, whose members
    keep their own offsets.
    """

    message_count: Int64 | None
    waiting_ms: Int64 | None
    is_complete: bool
    expired_count: Int64 | None
    is_applicable: bool

    @classmethod
    def of(cls, lag: domain.LagTotal) -> Self:
        """Present a lag."""
        return cls(
            message_count=int64(lag.message_count),
            waiting_ms=int64(lag.waiting_ms),
            is_complete=lag.is_complete,
            expired_count=int64(lag.expired_count),
            is_applicable=lag.is_applicable,
        )


@strawberry.type
class ConsumerGroup:
    """Present a consumer group of a list; its masters are asked only for what is selected."""

    cluster_name: strawberry.Private[str]
    name: str
    is_system: bool
    group_names: list[str]

    @strawberry.field
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

    @strawberry.field
    async def lag(self, info: Info) -> ConsumerLag:
        """Add up what the group has not read."""
        return ConsumerLag.of((await self._observed(info)).lag)

    @strawberry.field
    async def retry_lag(self, info: Info) -> ConsumerLag:
        """Add up what waits for another attempt."""
        return ConsumerLag.of((await self._observed(info)).retry_lag)

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
class ConsumerGroupSettings:
    """Present how one broker group serves the consumer group."""

    group_name: str
    consume_enabled: bool
    broadcast_allowed: bool
    consume_from_min_enabled: bool
    is_ordered: bool
    retry_count_max: int
    retry_queue_count: int
    consume_timeout_minutes: int
    notifies_members: bool

    @classmethod
    def of(cls, group_name: str, settings: GroupSettings) -> Self:
        """Present settings."""
        return cls(
            group_name=group_name,
            consume_enabled=settings.consume_enabled,
            broadcast_allowed=settings.broadcast_allowed,
            consume_from_min_enabled=settings.consume_from_min_enabled,
            is_ordered=settings.is_ordered,
            retry_count_max=settings.retry_count_max,
            retry_queue_count=settings.retry_queue_count,
            consume_timeout_minutes=settings.consume_timeout_minutes,
            notifies_members=settings.notifies_members,
        )


@strawberry.type
class ConsumerGroupMember:
    """Present a client of the group, and the broker groups that it is connected to.

    `subscriptions` are what this member itself says; several are connections that disagree, none is
    not known, as of a stock broker.
    """

    client_id: str
    address: str
    language: str
    version: int
    version_name: str | None
    group_names: list[str]
    addresses: list[str]
    subscriptions: list[str]
    message_models: list[str]
    consume_types: list[str]
    starts_from: list[str]

    @classmethod
    def of(cls, seen: details.SeenMember) -> Self:
        """Present a member."""
        member = seen.member
        return cls(
            client_id=member.client_id,
            address=member.address,
            language=member.language,
            version=member.version,
            version_name=version_name(member.version),
            group_names=list(seen.group_names),
            addresses=list(seen.addresses),
            subscriptions=seen.subscriptions,
            message_models=sorted({one.message_model for one in seen.said}),
            consume_types=sorted({one.consume_type for one in seen.said}),
            starts_from=sorted({one.starts_from for one in seen.said}),
        )


@strawberry.type
class ConsumerSubscription:
    """Present what a topic is read with; several expressions are members that disagree."""

    topic: str
    expressions: list[str]


@strawberry.type
class ConsumerQueue:
    """Present how far the group is in one queue; `committed` is null where it never committed."""

    group_name: str
    topic: str
    queue_id: int
    kind: domain.QueueKind
    committed: Int64 | None
    begin: Int64 | None
    end: Int64
    lag: Int64 | None
    expired_count: Int64 | None
    ahead_count: Int64 | None
    waiting_ms: Int64 | None
    consumed_at: datetime | None
    owner: str | None

    @classmethod
    def of(cls, queue: domain.QueueLag) -> Self:
        """Present a queue."""
        return cls(
            group_name=queue.group_name,
            topic=queue.topic,
            queue_id=queue.queue_id,
            kind=queue.kind,
            committed=int64(queue.committed),
            end=Int64(queue.end),
            begin=int64(queue.begin),
            lag=int64(queue.lag),
            expired_count=int64(queue.expired_count),
            ahead_count=int64(queue.ahead_count),
            waiting_ms=int64(queue.waiting_ms),
            consumed_at=told_instant(queue.consumed_at_ms),
            owner=queue.owner,
        )


@strawberry.type
class ConsumerGroupDetail:
    """Present a consumer group with its members, settings and queues.

    `state` and `deadLetterCount` are of the brokers that told, `brokerCountTold` of
    `brokerCountAsked`; null is that none did.
    """

    cluster_name: strawberry.Private[str]
    name: str
    is_system: bool
    state: domain.GroupState
    broker_count_told: int
    broker_count_asked: int
    models: list[str]
    lag: ConsumerLag
    retry_lag: ConsumerLag
    dead_letter_count: Int64 | None
    is_dead_letter_count_complete: bool
    settings: list[ConsumerGroupSettings]
    members: list[ConsumerGroupMember]
    subscriptions: list[ConsumerSubscription]
    queues: list[ConsumerQueue]
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
            lag=ConsumerLag.of(told.lag),
            retry_lag=ConsumerLag.of(told.retry_lag),
            dead_letter_count=int64(found.dead_letter_count),
            is_dead_letter_count_complete=found.is_dead_letter_count_complete,
            settings=[
                ConsumerGroupSettings.of(name, one) for name, one in sorted(found.settings.items())
            ],
            members=[ConsumerGroupMember.of(one) for one in found.members],
            subscriptions=[
                ConsumerSubscription(topic=topic, expressions=list(expressions))
                for topic, expressions in found.subscriptions.items()
            ],
            queues=[ConsumerQueue.of(one) for one in found.queues],
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
        """List a cluster's consumer groups by name, as its masters tell them now."""
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
