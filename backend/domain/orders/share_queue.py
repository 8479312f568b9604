"""Say what can be ordered of share queues, and of how groups receive messages."""

from dataclasses import dataclass
from typing import Annotated

from backend.domain.orders.consumer_group import ConsumerGroupName
from backend.domain.orders.offset import QUEUE_ID_MAX
from backend.domain.orders.parameter import (
    BROKER_GROUPS_MAX,
    LONG_MAX,
    BrokerGroupName,
    BrokerGroups,
    ClusterName,
    Parameter,
)
from backend.domain.orders.topic import TopicName
from backend.domain.share_queue import ConsumeMode, ShareQueueName

OnBrokerGroup = Annotated[str, Parameter("Name of the broker group.", option="broker_group")]
SharedTopicName = Annotated[
    str, Parameter("Name of the topic, or of a retry topic.", length_min=1, length_max=300)
]
QueueId = Annotated[
    int, Parameter("Number of the queue in its broker group.", low=0, high=QUEUE_ID_MAX)
]
NEIGHBOURS = Parameter(
    "Number of other clients whose queues each client also receives from by POP. 0 means all.",
    option="shared_clients",
    low=0,
    high=10_000,
)


@dataclass(frozen=True, slots=True)
class ReleaseSharedMessages:
    """Deliver messages of a share queue again whose client is gone, or those of a named client."""

    cluster_name: ClusterName
    broker_group_name: OnBrokerGroup
    consumer_group_name: ConsumerGroupName
    topic_name: SharedTopicName
    queue_id: QueueId
    client_id: Annotated[
        str | None,
        Parameter(
            "Id of the client that has the messages.",
            absence="all clients that are gone",
            option="client",
            length_min=1,
            length_max=300,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the queue and the consumer group."""
        return target_of(self)

    @property
    def name(self) -> ShareQueueName:
        """Return the share queue."""
        return ShareQueueName(self.topic_name, self.queue_id, self.consumer_group_name)


@dataclass(frozen=True, slots=True)
class ResetShareQueue:
    """Let a consumer group go on from an offset in a share queue.

    What its consumers have of the queue is void: they skip it, or receive it again.
    """

    cluster_name: ClusterName
    broker_group_name: OnBrokerGroup
    consumer_group_name: ConsumerGroupName
    topic_name: SharedTopicName
    queue_id: QueueId
    offset: Annotated[
        int, Parameter("Offset of the next message of the group.", low=0, high=LONG_MAX)
    ]

    @property
    def target(self) -> str:
        """Name the queue and the consumer group."""
        return target_of(self)

    @property
    def name(self) -> ShareQueueName:
        """Return the share queue."""
        return ShareQueueName(self.topic_name, self.queue_id, self.consumer_group_name)


@dataclass(frozen=True, slots=True)
class PlacedShareQueue:
    """Name one share queue of a broker group, and the member that gets it."""

    topic_name: SharedTopicName
    queue_id: QueueId
    consumer_group_name: ConsumerGroupName
    successor_id: Annotated[int, Parameter("Id of the broker that gets it.", low=0, high=LONG_MAX)]

    @property
    def name(self) -> ShareQueueName:
        """Return the share queue."""
        return ShareQueueName(self.topic_name, self.queue_id, self.consumer_group_name)


@dataclass(frozen=True, slots=True)
class HandOverShareQueues:
    """Hand share queues in SHARED mode over to a member of their broker group.

    What is given chooses the share queues. Instead, `queues` may name each of them; that takes a
    hand-over back.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    successor_id: Annotated[
        int | None,
        Parameter(
            "Id of the broker that gets them.",
            absence="the master, or another member in sync",
            option="to",
            low=0,
            high=LONG_MAX,
        ),
    ] = None
    owner_id: Annotated[
        int | None,
        Parameter(
            "Id of the broker whose share queues are meant.",
            absence="those of all brokers",
            option="owner",
            low=0,
            high=LONG_MAX,
        ),
    ] = None
    consumer_group_name: Annotated[
        str | None,
        Parameter(
            "Name of the consumer group.",
            absence="all",
            option="group",
            length_min=1,
            length_max=300,
        ),
    ] = None
    topic_name: Annotated[
        str | None,
        Parameter(
            "Name of the topic.", absence="all", option="topic", length_min=1, length_max=300
        ),
    ] = None
    queue_id: Annotated[
        int | None,
        Parameter("Number of the queue.", absence="all", option="queue", low=0, high=QUEUE_ID_MAX),
    ] = None
    queues: Annotated[
        tuple[PlacedShareQueue, ...],
        Parameter(
            "Share queues with their next owners, instead of all other parameters.",
            for_undo=True,
            count_max=1_000,
        ),
    ] = ()

    @property
    def target(self) -> str:
        """Name the broker group."""
        return self.broker_group_name


@dataclass(frozen=True, slots=True)
class PlacedConsumeMode:
    """Hold how a consumer group shall receive a topic on one broker group."""

    broker_group_name: BrokerGroupName
    mode: Annotated[ConsumeMode, Parameter("PULL or POP.")]
    shared_client_count: Annotated[int, NEIGHBOURS] = 0


@dataclass(frozen=True, slots=True)
class SetConsumeMode:
    """Set how a consumer group receives a topic: queue by queue (PULL), or from share queues (POP).

    Instead, `modes` may give the mode of each broker group; that takes a change back.
    """

    cluster_name: ClusterName
    consumer_group_name: ConsumerGroupName
    topic_name: TopicName
    mode: Annotated[ConsumeMode | None, Parameter("PULL or POP.")] = None
    shared_client_count: Annotated[int, NEIGHBOURS] = 0
    broker_groups: BrokerGroups = ()
    modes: Annotated[
        tuple[PlacedConsumeMode, ...],
        Parameter(
            "Mode by broker group, instead of all other parameters.",
            for_undo=True,
            count_max=BROKER_GROUPS_MAX,
        ),
    ] = ()

    @property
    def target(self) -> str:
        """Name the consumer group."""
        return self.consumer_group_name


def target_of(order: ReleaseSharedMessages | ResetShareQueue) -> str:
    """Name a queue as users type it."""
    return f"{order.topic_name}/{order.queue_id}"
