"""Say what can be ordered of topics."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Final

from backend.domain.orders.parameter import (
    BROKER_GROUPS_MAX,
    BrokerGroupName,
    BrokerGroups,
    ClusterName,
    Parameter,
)
from backend.domain.share_mode import ShareMode
from backend.domain.topic_layout import MessageType, TopicLayout, TopicWish
from backend.rules.attributes import REPLICATE
from backend.rules.topic import CREATED_NAME_LENGTH_MAX, QUEUE_COUNT_MAX

TopicName = Annotated[
    str,
    Parameter("Name of the topic.", name_length_max=CREATED_NAME_LENGTH_MAX),
]
READ_QUEUES: Final = Parameter(
    "Number of queues that consumers read in each broker group.",
    option="read_queues",
    low=0,
    high=QUEUE_COUNT_MAX,
)
WRITE_QUEUES: Final = Parameter(
    "Number of queues that producers write in each broker group.",
    option="queues",
    low=0,
    high=QUEUE_COUNT_MAX,
)
READABLE: Final = Parameter("Allow consumers to read the topic.", option="readable")
WRITABLE: Final = Parameter("Allow producers to write to the topic.", option="writable")
ORDERED: Final = Parameter("Mark the topic as ordered.", option="ordered")
MESSAGE_TYPE: Final = Parameter(
    "Allowed type of messages, for brokers that check the type."
    " With PRIORITY, POP delivers messages of a higher priority first."
)
SHARE_MODE: Final = Parameter(
    "Which brokers own the share queues of POP: the master (PRIMARY), or members by lease (SHARED)."
)
TIME_SHARED: Final = Parameter(
    "In SHARED mode, let members with consumers take turns as owner, besides forwarding to it.",
    option="time_share",
)
REPLICATED: Final = Parameter(
    "Let replicas copy the messages. Without it the master alone stores them, which is faster and"
    " needs less disk and network: they are lost with that master. It can't be changed later.",
    option="replicated",
)


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create a topic on the broker groups named, or on all of the cluster."""

    cluster_name: ClusterName
    topic_name: TopicName
    broker_groups: BrokerGroups = ()
    write_queue_count: Annotated[int, WRITE_QUEUES] = 8
    read_queue_count: Annotated[int, READ_QUEUES] = 8
    is_readable: Annotated[bool, READABLE] = True
    is_writable: Annotated[bool, WRITABLE] = True
    is_ordered: Annotated[bool, ORDERED] = False
    message_type: Annotated[MessageType | None, MESSAGE_TYPE] = None
    share_mode: Annotated[ShareMode | None, SHARE_MODE] = None
    is_time_shared: Annotated[bool | None, TIME_SHARED] = None
    is_replicated: Annotated[bool, REPLICATED] = True

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name

    @property
    def layout(self) -> TopicLayout:
        """Return how each master shall hold the topic."""
        attributes = {} if self.is_replicated else {REPLICATE: "false"}
        return _wish_of(self).of(TopicLayout(attributes=attributes))


@dataclass(frozen=True, slots=True)
class PlacedLayout:
    """Hold how one broker group shall hold a topic, whole."""

    broker_group_name: BrokerGroupName
    layout: Annotated[TopicLayout, Parameter("Layout of the topic on this broker group.")]


@dataclass(frozen=True, slots=True)
class ChangeTopic:
    """Change what is given of a topic, on the broker groups named or on all that hold it.

    Instead, `layouts` may give each group's whole layout; that takes a change back.
    """

    cluster_name: ClusterName
    topic_name: TopicName
    broker_groups: BrokerGroups = ()
    write_queue_count: Annotated[int | None, WRITE_QUEUES] = None
    read_queue_count: Annotated[int | None, READ_QUEUES] = None
    is_readable: Annotated[bool | None, READABLE] = None
    is_writable: Annotated[bool | None, WRITABLE] = None
    is_ordered: Annotated[bool | None, ORDERED] = None
    message_type: Annotated[MessageType | None, MESSAGE_TYPE] = None
    share_mode: Annotated[ShareMode | None, SHARE_MODE] = None
    is_time_shared: Annotated[bool | None, TIME_SHARED] = None
    layouts: Annotated[
        tuple[PlacedLayout, ...],
        Parameter(
            "Whole layout by broker group, instead of all other parameters.",
            for_undo=True,
            count_max=BROKER_GROUPS_MAX,
        ),
    ] = ()

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name

    @property
    def wish(self) -> TopicWish:
        """Return what is wished for."""
        return _wish_of(self)


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """Delete a topic on the broker groups named, or on all that hold it."""

    cluster_name: ClusterName
    topic_name: TopicName
    broker_groups: BrokerGroups = ()
    only_empty: Annotated[bool, Parameter("Delete the topic only if it holds no message.")] = False

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


def _wish_of(order: Any) -> TopicWish:
    """Read from an order what is wished for; the fields are called alike."""
    return TopicWish(**{one.name: getattr(order, one.name) for one in fields(TopicWish)})
