"""Show where topics are held, and what clients are answered for them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.route import RouteEntry
from backend.domain.topic import TopicPlacement
from backend.services.observations import QueueView
from backend.views.copying import copied
from backend.views.graph_forms import Int64, Pairs, in_graph
from backend.views.instants import instant


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
