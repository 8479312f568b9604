"""Load the relations of topics."""

from backend.api.graphql.context import Info
from backend.api.graphql.protections import load_protection
from backend.api.graphql.questions import relation
from backend.domain.protection import Resource, ResourceKind
from backend.services.consumer_group.observations import TopicRates, view_queues, view_rates
from backend.services.topic.topics import topic_version
from backend.views.protections import ProtectionOut
from backend.views.topics import PlacementOut, QueueOut, RouteEntryOut, TopicOut, show_route


@relation(TopicOut)
async def placements(topic: TopicOut, info: Info) -> list[PlacementOut]:
    """List the broker groups that hold the topic."""
    found = await info.context.loaders.placements.load(topic.id)
    return [PlacementOut.of(placement) for placement in found]


@relation(TopicOut)
async def version(topic: TopicOut, info: Info) -> str:
    """Return the version of the layout. A change can require it."""
    return topic_version(await info.context.loaders.placements.load(topic.id))


@relation(TopicOut)
async def protection(topic: TopicOut, info: Info) -> ProtectionOut | None:
    """Show the protection from deletion, or null."""
    return await load_protection(info, Resource(topic.cluster_name, ResourceKind.TOPIC, topic.name))


@relation(TopicOut)
async def queues(topic: TopicOut, info: Info) -> list[QueueOut]:
    """List the queues of the topic with their offsets."""
    held = await info.context.loaders.placements.load(topic.id)
    samples = await info.context.loaders.samples.load(topic.cluster_name)
    mapping = await info.context.loaders.mappings.load((topic.cluster_name, topic.name))
    return [QueueOut.of(queue) for queue in view_queues(topic.name, held, samples, mapping)]


@relation(TopicOut)
async def messages_in_per_second(topic: TopicOut, info: Info) -> float | None:
    """Add up the messages that masters receive per second."""
    return (await _rates(topic, info)).messages_in_per_second


@relation(TopicOut)
async def bytes_in_per_second(topic: TopicOut, info: Info) -> float | None:
    """Add up the bytes that masters receive per second."""
    return (await _rates(topic, info)).bytes_in_per_second


@relation(TopicOut)
async def route(topic: TopicOut, info: Info) -> list[RouteEntryOut]:
    """Show the answer of the name server to clients."""
    found = info.context.api.name_server.find_route(topic.name)
    return show_route(found, topic.cluster_name)


async def _rates(topic: TopicOut, info: Info) -> TopicRates:
    samples = await info.context.loaders.samples.load(topic.cluster_name)
    return view_rates(topic.name, samples, now_ms=info.context.api.clock.now_ms())
