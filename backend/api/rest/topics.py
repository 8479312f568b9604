"""Answer topics over REST."""

from dataclasses import dataclass

from fastapi import APIRouter, Response

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, Search, page_out
from backend.api.rest.versions import TAGGED, put_tag
from backend.clients.losable import read_losable
from backend.domain.protection import Protection, Resource, ResourceKind
from backend.domain.topic import Topic, TopicKind
from backend.services.clusters import describe_cluster
from backend.services.observations import view_queues, view_rates
from backend.services.protections import find_protections
from backend.services.samples import latest_samples
from backend.services.topics import (
    TopicFilter,
    describe_topic,
    list_placements,
    list_topics,
    topic_version,
)
from backend.views.protections import ProtectionOut
from backend.views.topics import PlacementOut, QueueOut, RouteEntryOut

router = APIRouter(tags=["topics"])


@dataclass(frozen=True, slots=True)
class TopicOut:
    """A topic; `protection` is null if it is not protected from deletion."""

    name: str
    kind: TopicKind
    protection: ProtectionOut | None


@dataclass(frozen=True, slots=True)
class TopicDetailOut(TopicOut):
    """A topic with its places, queues and route; rates are null while unknown."""

    placements: list[PlacementOut]
    queues: list[QueueOut]
    route: list[RouteEntryOut]
    messages_in_per_second: float | None
    bytes_in_per_second: float | None


@router.get("/clusters/{cluster_name}/topics", responses=NOT_FOUND)
async def show_topics(
    cluster_name: str,
    context: Context,
    search: Search = None,
    kind: TopicKind | None = None,
    limit: Limit = 50,
    after: After = None,
) -> PageOut[TopicOut]:
    """List a cluster's topics by name."""
    key = decode_cursor(after, str)
    cluster = await describe_cluster(cluster_name, database=context.database)
    pages = await list_topics(
        [cluster.id],
        size=limit,
        after=key,
        chosen=TopicFilter(search, kind),
        database=context.database,
    )
    page = pages[cluster.id]
    protected = await find_protections(
        [_resource(topic) for topic in page.items], database=context.database
    )
    return page_out(page, lambda topic: _topic_out(topic, protected[_resource(topic)]))


@router.get("/clusters/{cluster_name}/topics/{topic_name}", responses={**NOT_FOUND, 200: TAGGED})
async def show_topic(
    cluster_name: str, topic_name: str, context: Context, response: Response
) -> TopicDetailOut:
    """Describe one topic with its queues and its route."""
    topic = await describe_topic(cluster_name, topic_name, database=context.database)
    placements = (await list_placements([topic.id], database=context.database))[topic.id]
    put_tag(response, topic_version(placements))
    resource = _resource(topic)
    protected = await find_protections([resource], database=context.database)
    samples = await read_losable(latest_samples(context.redis, cluster_name), unknown=[])
    rates = view_rates(topic.name, samples, now_ms=context.clock.now_ms())
    route = context.name_server.find_route(topic.name)
    entries = () if route is None else route.entries
    return TopicDetailOut(
        name=topic.name,
        kind=topic.kind,
        protection=ProtectionOut.of(protected[resource]),
        placements=[PlacementOut.of(placement) for placement in placements],
        queues=[QueueOut.of(queue) for queue in view_queues(topic.name, placements, samples)],
        route=[
            RouteEntryOut.of(entry)
            for entry in entries
            if entry.members.cluster_name == cluster_name
        ],
        messages_in_per_second=rates.messages_in_per_second,
        bytes_in_per_second=rates.bytes_in_per_second,
    )


def _topic_out(topic: Topic, protection: Protection | None) -> TopicOut:
    return TopicOut(name=topic.name, kind=topic.kind, protection=ProtectionOut.of(protection))


def _resource(topic: Topic) -> Resource:
    return Resource(topic.cluster_name, ResourceKind.TOPIC, topic.name)
