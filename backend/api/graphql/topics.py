"""Present topics, where they are held and what clients are told of them."""

from typing import Self

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.protections import load_protection
from backend.api.graphql.views import shows
from backend.domain import topic as domain
from backend.domain.protection import Resource, ResourceKind
from backend.services.observations import TopicRates, view_queues, view_rates
from backend.services.topics import topic_version
from backend.views.protections import ProtectionOut
from backend.views.topics import PlacementOut, QueueOut, RouteEntryOut

TopicKind = strawberry.enum(domain.TopicKind, description=None)


@strawberry.type
class Topic:
    """Present one topic."""

    model: strawberry.Private[domain.Topic]
    id: strawberry.ID
    name: str
    kind: domain.TopicKind
    cluster_name: str

    @shows(list[PlacementOut])
    async def placements(self, info: Info) -> list[PlacementOut]:
        """List the groups that hold the topic."""
        found = await info.context.loaders.placements.load(self.model.id)
        return [PlacementOut.of(placement) for placement in found]

    @strawberry.field
    async def version(self, info: Info) -> str:
        """Name the version of how it is laid out, for whoever changes it."""
        return topic_version(await info.context.loaders.placements.load(self.model.id))

    @shows(ProtectionOut | None)
    async def protection(self, info: Info) -> ProtectionOut | None:
        """Tell who protects it from deletion; null where nobody does."""
        resource = Resource(self.cluster_name, ResourceKind.TOPIC, self.name)
        return await load_protection(info, resource)

    @shows(list[QueueOut])
    async def queues(self, info: Info) -> list[QueueOut]:
        """List the topic's queues with their ends."""
        placements = await info.context.loaders.placements.load(self.model.id)
        samples = await info.context.loaders.samples.load(self.cluster_name)
        return [QueueOut.of(queue) for queue in view_queues(self.name, placements, samples)]

    @strawberry.field
    async def messages_in_per_second(self, info: Info) -> float | None:
        """Add up what masters take in."""
        return (await self._rates(info)).messages_in_per_second

    @strawberry.field
    async def bytes_in_per_second(self, info: Info) -> float | None:
        """Add up what masters take in."""
        return (await self._rates(info)).bytes_in_per_second

    @shows(list[RouteEntryOut])
    async def route(self, info: Info) -> list[RouteEntryOut]:
        """Look up what the name server of this process answers."""
        route = info.context.api.name_server.find_route(self.name)
        return [
            RouteEntryOut.of(entry)
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
