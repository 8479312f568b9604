"""Show topics, the broker groups that hold them, and their routes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.protection import Protection
from backend.domain.route import RouteEntry, TopicRoute
from backend.domain.share_mode import ShareMode
from backend.domain.topic import Topic, TopicKind, TopicPlacement
from backend.services.consumer_group.observations import QueueView
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    BYTES_IN,
    CLUSTER_NAME,
    MESSAGES_IN,
    NEXT_OFFSET,
    OLDEST_OFFSET,
    PROTECTION,
    QUEUE_ID,
    ROUTED_ID,
    TOPIC_KIND,
    TOPIC_NAME,
)
from backend.views.graph_forms import (
    GraphId,
    GraphOnly,
    Int64,
    Pairs,
    RestOnly,
    Text,
    Version,
    in_graph,
)
from backend.views.instants import instant
from backend.views.protections import ProtectionOut


@dataclass(frozen=True, slots=True)
class TopicOut:
    """A topic; `protection` is null if it is not protected from deletion."""

    id: Annotated[GraphId, Text("Key of the row of the topic.")]
    cluster_name: Annotated[GraphOnly[str], CLUSTER_NAME]
    name: Annotated[str, TOPIC_NAME]
    kind: Annotated[TopicKind, TOPIC_KIND]
    protection: Annotated[RestOnly[ProtectionOut | None], PROTECTION]

    @classmethod
    def of(cls, topic: Topic, protection: Protection | None = None) -> Self:
        """Show a topic."""
        return copied(cls, topic, protection=ProtectionOut.of(protection))


@in_graph("TopicPlacement")
@dataclass(frozen=True, slots=True)
class PlacementOut:
    """Settings of a topic on one broker group."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    read_queue_count: Annotated[
        int, Text("Number of queues that consumers read in this broker group.")
    ]
    write_queue_count: Annotated[
        int, Text("Number of queues that producers write in this broker group.")
    ]
    readable: Annotated[bool, Text("Whether consumers may read the topic.")]
    writable: Annotated[bool, Text("Whether producers may write to the topic.")]
    inherited: Annotated[bool, Text("Whether new topics may take over the settings of this one.")]
    is_ordered: Annotated[bool, Text("Whether the topic is marked as ordered.")]
    message_type: Annotated[str | None, Text("Allowed type of messages. Null if none is set.")]
    share_mode: Annotated[ShareMode, Text("Which brokers own the share queues of the topic.")]
    is_time_shared: Annotated[bool, Text("Whether members take turns as owner, in SHARED mode.")]
    is_replicated: Annotated[
        bool,
        Text("Whether replicas copy the messages. If not, they are lost with their master."),
    ]

    @classmethod
    def of(cls, placement: TopicPlacement) -> Self:
        """Show a placement."""
        settings = placement.settings
        return copied(
            cls,
            settings,
            broker_group_name=placement.broker_group_name,
            readable=settings.is_readable,
            writable=settings.is_writable,
            inherited=settings.is_inherited,
        )


@in_graph(description="Offsets are null until a sample shows the queue.")
@dataclass(frozen=True, slots=True)
class QueueOut:
    """Offsets of a queue; null until a sample shows the queue."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    min_offset: Annotated[Int64 | None, OLDEST_OFFSET]
    max_offset: Annotated[Int64 | None, NEXT_OFFSET]
    observed_at: Annotated[datetime | None, Text("Time of the sample that shows the offsets.")]

    @classmethod
    def of(cls, queue: QueueView) -> Self:
        """Show a queue."""
        at_ms = queue.observed_at_ms
        return copied(cls, queue, observed_at=None if at_ms is None else instant(at_ms))


@in_graph(description="Answer of the name server to clients for this topic.")
@dataclass(frozen=True, slots=True)
class RouteEntryOut:
    """One broker group in the route of a topic."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    brokers: Annotated[
        dict[Annotated[Int64, ROUTED_ID], Annotated[str, BROKER_ADDRESS]],
        Pairs("RouteBroker", "broker_id", "address"),
        Text("Addresses of the brokers that clients may use, by broker id."),
    ]
    read_queue_count: Annotated[int, Text("Number of queues for consumers.")]
    write_queue_count: Annotated[int, Text("Number of queues for producers.")]
    permissions: Annotated[
        int, Text("Permissions as RocketMQ numbers them: 4 to read, 2 to write, 1 if inherited.")
    ]

    @classmethod
    def of(cls, entry: RouteEntry) -> Self:
        """Show an entry."""
        members = entry.members
        return copied(
            cls,
            entry.settings,
            broker_group_name=members.broker_group_name,
            brokers=dict(members.addresses),
        )


@dataclass(frozen=True, slots=True)
class TopicDetailOut(TopicOut):
    """A topic with its settings, queues and route; rates are null while unknown."""

    version: Annotated[Version, Text("Version of the layout. A change can require it.")]
    placements: Annotated[
        list[PlacementOut], Text("Settings of the topic in each broker group that holds it.")
    ]
    queues: Annotated[list[QueueOut], Text("Queues of the topic.")]
    route: Annotated[
        list[RouteEntryOut], Text("Answer of the name server to clients that ask for this topic.")
    ]
    messages_in_per_second: Annotated[float | None, MESSAGES_IN]
    bytes_in_per_second: Annotated[float | None, BYTES_IN]


def show_route(route: TopicRoute | None, cluster_name: str) -> list[RouteEntryOut]:
    """Show the part of a route that one cluster serves."""
    return [
        RouteEntryOut.of(entry)
        for entry in (() if route is None else route.entries)
        if entry.members.cluster_name == cluster_name
    ]
