"""Present topics, where they are held and what clients are told of them."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.protections import load_protection
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import shows
from backend.domain import topic as domain
from backend.domain.protection import Resource, ResourceKind
from backend.domain.route import RouteEntry as DomainRouteEntry
from backend.services.observations import QueueView, TopicRates, view_queues, view_rates
from backend.services.topics import topic_version
from backend.views.instants import instant
from backend.views.protections import ProtectionOut

TopicKind = strawberry.enum(domain.TopicKind, description=None)


@strawberry.type
class TopicPlacement:
    """Present what one group holds of a topic."""

    group_name: str
    read_queue_count: int
    write_queue_count: int
    readable: bool
    writable: bool
    inherited: bool
    is_ordered: bool

    @classmethod
    def of(cls, placement: domain.TopicPlacement) -> Self:
        """Present a placement."""
        settings = placement.settings
        return cls(
            group_name=placement.group_name,
            read_queue_count=settings.read_queue_count,
            write_queue_count=settings.write_queue_count,
            readable=settings.is_readable,
            writable=settings.is_writable,
            inherited=settings.is_inherited,
            is_ordered=settings.is_ordered,
        )


@strawberry.type(description="Offsets are null when no sample has shown the queue yet.")
class Queue:
    """Present one queue."""

    group_name: str
    queue_id: int
    min_offset: Int64 | None
    max_offset: Int64 | None
    observed_at: datetime | None

    @classmethod
    def of(cls, queue: QueueView) -> Self:
        """Present a queue."""
        at_ms = queue.observed_at_ms
        return cls(
            group_name=queue.group_name,
            queue_id=queue.queue_id,
            min_offset=None if queue.min_offset is None else Int64(queue.min_offset),
            max_offset=None if queue.max_offset is None else Int64(queue.max_offset),
            observed_at=None if at_ms is None else instant(at_ms),
        )


@strawberry.type
class RouteBroker:
    """Present one address of a route."""

    broker_id: Int64
    address: str


@strawberry.type(description="What the name server answers clients for this topic.")
class RouteEntry:
    """Present one group of a route."""

    group_name: str
    brokers: list[RouteBroker]
    read_queue_count: int
    write_queue_count: int
    permissions: int

    @classmethod
    def of(cls, entry: DomainRouteEntry) -> Self:
        """Present an entry."""
        return cls(
            group_name=entry.members.group_name,
            brokers=[
                RouteBroker(broker_id=Int64(broker_id), address=address)
                for broker_id, address in entry.members.addresses.items()
            ],
            read_queue_count=entry.settings.read_queue_count,
            write_queue_count=entry.settings.write_queue_count,
            permissions=entry.settings.permissions,
        )


@strawberry.type
class Topic:
    """Present one topic."""

    model: strawberry.Private[domain.Topic]
    id: strawberry.ID
    name: str
    kind: domain.TopicKind
    cluster_name: str

    @strawberry.field
    async def placements(self, info: Info) -> list[TopicPlacement]:
        """List the groups that hold the topic."""
        found = await info.context.loaders.placements.load(self.model.id)
        return [TopicPlacement.of(placement) for placement in found]

    @strawberry.field
    async def version(self, info: Info) -> str:
        """Name the version of how it is laid out, for whoever changes it."""
        return topic_version(await info.context.loaders.placements.load(self.model.id))

    @shows(ProtectionOut | None)
    async def protection(self, info: Info) -> ProtectionOut | None:
        """Tell who protects it from deletion; null where nobody does."""
        resource = Resource(self.cluster_name, ResourceKind.TOPIC, self.name)
        return await load_protection(info, resource)

    @strawberry.field
    async def queues(self, info: Info) -> list[Queue]:
        """List the topic's queues with their ends."""
        placements = await info.context.loaders.placements.load(self.model.id)
        samples = await info.context.loaders.samples.load(self.cluster_name)
        return [Queue.of(queue) for queue in view_queues(self.name, placements, samples)]

    @strawberry.field
    async def messages_in_per_second(self, info: Info) -> float | None:
        """Add up what masters take in."""
        return (await self._rates(info)).messages_in_per_second

    @strawberry.field
    async def bytes_in_per_second(self, info: Info) -> float | None:
        """Add up what masters take in."""
        return (await self._rates(info)).bytes_in_per_second

    @strawberry.field
    async def route(self, info: Info) -> list[RouteEntry]:
        """Look up what the name server of this process answers."""
        route = info.context.api.name_server.find_route(self.name)
        return [
            RouteEntry.of(entry)
            for entry in (() if route is None else route.entries)
            if entry.members.cluster_name == self.cluster_name
        ]

    async def _rates(self, info: Info) -> TopicRates:
        samples = await info.context.loaders.samples.load(self.cluster_name)
        return view_rates(self.name, samples, now_ms=info.context.api.clock.now_ms())

    @classmethod
    def of(cls, topic: domain.Topic) -> Self:
        """Present a topic."""
        return cls(
            model=topic,
            id=strawberry.ID(str(topic.id)),
            name=topic.name,
            kind=topic.kind,
            cluster_name=topic.cluster_name,
        )
