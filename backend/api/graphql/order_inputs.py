"""Name the parameters of kinds of operations in the graph: topics, consumer groups, settings."""

import strawberry

from backend.api.graphql.scalars import Int64
from backend.domain.offset_reset import Position, ResetMode
from backend.domain.protection import ResourceKind
from backend.domain.topic_layout import MessageType

TopicMessageType = strawberry.enum(MessageType, name="TopicMessageType", description=None)
OffsetPosition = strawberry.enum(Position, name="OffsetPosition", description=None)
ProtectedKind = strawberry.enum(ResourceKind, name="ProtectedKind", description=None)
OffsetResetMode = strawberry.enum(ResetMode, name="OffsetResetMode", description=None)


@strawberry.input
class CreateTopicInput:
    """Create a topic on the broker groups named, or on all of the cluster."""

    cluster_name: str
    topic_name: str
    broker_groups: list[str] = strawberry.field(default_factory=list)
    read_queue_count: int = 8
    write_queue_count: int = 8
    is_readable: bool = True
    is_writable: bool = True
    is_ordered: bool = False
    message_type: MessageType | None = None


@strawberry.input
class ChangeTopicInput:
    """Change what is given of a topic, on the broker groups named or on all that hold it."""

    cluster_name: str
    topic_name: str
    broker_groups: list[str] = strawberry.field(default_factory=list)
    read_queue_count: int | None = None
    write_queue_count: int | None = None
    is_readable: bool | None = None
    is_writable: bool | None = None
    is_ordered: bool | None = None
    message_type: MessageType | None = None


@strawberry.input
class DeleteTopicInput:
    """Delete a topic on the broker groups named, or on all that hold it."""

    cluster_name: str
    topic_name: str
    broker_groups: list[str] = strawberry.field(default_factory=list)
    only_empty: bool = False


@strawberry.input
class CreateConsumerGroupInput:
    """Create a consumer group on the broker groups named, or on all of the cluster."""

    cluster_name: str
    group_name: str
    broker_groups: list[str] = strawberry.field(default_factory=list)
    consume_enabled: bool = True
    broadcast_allowed: bool = True
    consume_from_min_enabled: bool = True
    is_ordered: bool = False
    retry_count_max: int = 16
    retry_queue_count: int = 1
    consume_timeout_minutes: int = 15
    notifies_members: bool = True


@strawberry.input
class ChangeConsumerGroupInput:
    """Change what is given of a consumer group, on the broker groups named or all that know it."""

    cluster_name: str
    group_name: str
    broker_groups: list[str] = strawberry.field(default_factory=list)
    consume_enabled: bool | None = None
    broadcast_allowed: bool | None = None
    consume_from_min_enabled: bool | None = None
    is_ordered: bool | None = None
    retry_count_max: int | None = None
    retry_queue_count: int | None = None
    consume_timeout_minutes: int | None = None
    notifies_members: bool | None = None


@strawberry.input
class DeleteConsumerGroupInput:
    """Delete a consumer group on the broker groups named, or on all that know it."""

    cluster_name: str
    group_name: str
    broker_groups: list[str] = strawberry.field(default_factory=list)
    cleans_up: bool = False


@strawberry.input
class PropertyChangeInput:
    """Name a property and its new value; an empty one is the default."""

    name: str
    value: str


@strawberry.input
class ChangeBrokerConfigInput:
    """Set properties of one broker: by its address if one is given, else by its id, 0 is master."""

    cluster_name: str
    group_name: str
    changes: list[PropertyChangeInput]
    broker_id: Int64 = Int64(0)
    address: str | None = None


@strawberry.input
class ChangeProtectionInput:
    """Protect what is named from deletion, or lift that; a broker's name is `GROUP/ADDRESS`."""

    cluster_name: str
    resource_kind: ResourceKind
    resource_name: str
    is_protected: bool = True


@strawberry.input
class QueueOffsetInput:
    """Name the offset that a group shall go on from in one queue."""

    group_name: str
    queue_id: int
    offset: Int64


@strawberry.input
class ResetOffsetsInput:
    """Set a consumer group's offsets in a topic, in all queues or in those named."""

    cluster_name: str
    consumer_group: str
    topic_name: str
    position: Position
    timestamp_ms: Int64 | None = None
    offset: Int64 | None = None
    offsets: list[QueueOffsetInput] = strawberry.field(default_factory=list)
    broker_groups: list[str] = strawberry.field(default_factory=list)
    queue_ids: list[int] = strawberry.field(default_factory=list)
    mode: ResetMode = ResetMode.AUTO
    source_group: str | None = None
