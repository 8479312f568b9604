"""Answer topics over REST."""

from datetime import UTC, datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, Search, page_out
from backend.api.rest.versions import TAGGED, put_tag
from backend.clients.losable import read_losable
from backend.domain.protection import Protection, Resource, ResourceKind
from backend.domain.route import RouteEntry
from backend.domain.topic import Topic, TopicKind, TopicPlacement
from backend.services.clusters import describe_cluster
from backend.services.observations import QueueView, view_queues, view_rates
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

router = APIRouter(tags=["topics"])


class TopicOut(BaseModel):
    """A topic; `protection` is null where nobody protects it from deletion."""

    name: str
    kind: TopicKind
    protection: ProtectionOut | None


class PlacementOut(BaseModel):
    """What one broker group holds of a topic."""

    group_name: str
    read_queue_count: int
    write_queue_count: int
    readable: bool
    writable: bool
    inherited: bool
    is_ordered: bool


class QueueOut(BaseModel):
    """The ends of a queue; null while no sample has shown them."""

    group_name: str
    queue_id: int
    min_offset: int | None
    max_offset: int | None
    observed_at: datetime | None


class RouteEntryOut(BaseModel):
    """Where clients are told that a topic is served."""

    group_name: str
    brokers: dict[int, str]
    read_queue_count: int
    write_queue_count: int
    permissions: int


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
        placements=[_placement_out(placement) for placement in placements],
        queues=[_queue_out(queue) for queue in view_queues(topic.name, placements, samples)],
        route=[
            _entry_out(entry) for entry in entries if entry.members.cluster_name == cluster_name
        ],
        messages_in_per_second=rates.messages_in_per_second,
        bytes_in_per_second=rates.bytes_in_per_second,
    )


def _topic_out(topic: Topic, protection: Protection | None) -> TopicOut:
    return TopicOut(name=topic.name, kind=topic.kind, protection=ProtectionOut.of(protection))


def _resource(topic: Topic) -> Resource:
    return Resource(topic.cluster_name, ResourceKind.TOPIC, topic.name)


def _placement_out(placement: TopicPlacement) -> PlacementOut:
    settings = placement.settings
    return PlacementOut(
        group_name=placement.group_name,
        read_queue_count=settings.read_queue_count,
        write_queue_count=settings.write_queue_count,
        readable=settings.is_readable,
        writable=settings.is_writable,
        inherited=settings.is_inherited,
        is_ordered=settings.is_ordered,
    )


def _queue_out(queue: QueueView) -> QueueOut:
    at_ms = queue.observed_at_ms
    return QueueOut(
        group_name=queue.group_name,
        queue_id=queue.queue_id,
        min_offset=queue.min_offset,
        max_offset=queue.max_offset,
        observed_at=None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC),
    )


def _entry_out(entry: RouteEntry) -> RouteEntryOut:
    return RouteEntryOut(
        group_name=entry.members.group_name,
        brokers=dict(entry.members.addresses),
        read_queue_count=entry.settings.read_queue_count,
        write_queue_count=entry.settings.write_queue_count,
        permissions=entry.settings.permissions,
    )
