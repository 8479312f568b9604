"""Show topics, where they are held, and what clients are answered for them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.protection import Protection
from backend.domain.route import RouteEntry, TopicRoute
from backend.domain.topic import Topic, TopicKind, TopicPlacement
from backend.services.consumer_group.observations import QueueView
from backend.views.copying import copied
from backend.views.graph_forms import GraphId, GraphOnly, Int64, Pairs, RestOnly, Version, in_graph
from backend.views.instants import instant
from backend.views.protections import ProtectionOut


@dataclass(frozen=True, slots=True)
class TopicOut:
    """A topic; `protection` is null if it is not protected from deletion."""

    id: GraphId
    cluster_name: GraphOnly[str]
    name: str
    kind: TopicKind
    protection: RestOnly[ProtectionOut | None]

    @classmethod
    def of(cls, topic: Topic, protection: Protection | None = None) -> Self:
        """Show a topic."""
        return copied(cls, topic, protection=ProtectionOut.of(protection))


@in_graph("TopicPlacement")
@dataclass(frozen=True, slots=True)
class PlacementOut:
    """What one broker group holds of a topic."""

    group_name: str
    read_queue_count: int
    write_queue_count: int
    readable: bool
    writable: bool
    inherited: bool
    is_ordered: bool

    @classmethod
    def of(cls, placement: TopicPlacement) -> Self:
        """Show a placement."""
        settings = placement.settings
        return copied(
            cls,
            settings,
            group_name=placement.group_name,
            readable=settings.is_readable,
            writable=settings.is_writable,
            inherited=settings.is_inherited,
        )


@in_graph(description="Offsets are null when no sample has shown the queue yet.")
@dataclass(frozen=True, slots=True)
class QueueOut:
    """The ends of a queue; null while no sample has shown them."""

    group_name: str
    queue_id: int
    min_offset: Int64 | None
    max_offset: Int64 | None
    observed_at: datetime | None

    @classmethod
    def of(cls, queue: QueueView) -> Self:
        """Show a queue."""
        at_ms = queue.observed_at_ms
        return copied(cls, queue, observed_at=None if at_ms is None else instant(at_ms))


@in_graph(description="What the name server answers clients for this topic.")
@dataclass(frozen=True, slots=True)
class RouteEntryOut:
    """Where the routes of a topic send clients."""

    group_name: str
    brokers: Annotated[dict[Int64, str], Pairs("RouteBroker", "broker_id", "address")]
    read_queue_count: int
    write_queue_count: int
    permissions: int

    @classmethod
    def of(cls, entry: RouteEntry) -> Self:
        """Show an entry."""
        members = entry.members
        return copied(
            cls, entry.settings, group_name=members.group_name, brokers=dict(members.addresses)
        )


@dataclass(frozen=True, slots=True)
class TopicDetailOut(TopicOut):
    """A topic with its places, queues and route; rates are null while unknown."""

    version: Version
    placements: list[PlacementOut]
    queues: list[QueueOut]
    route: list[RouteEntryOut]
    messages_in_per_second: float | None
    bytes_in_per_second: float | None


def show_route(route: TopicRoute | None, cluster_name: str) -> list[RouteEntryOut]:
    """Show the part of a route that one cluster serves."""
    return [
        RouteEntryOut.of(entry)
        for entry in (() if route is None else route.entries)
        if entry.members.cluster_name == cluster_name
    ]
