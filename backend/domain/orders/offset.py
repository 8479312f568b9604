"""Say what can be ordered of the offsets of consumer groups."""

from dataclasses import dataclass
from typing import Annotated, Final

from backend.domain.offset_reset import Position, ResetMode
from backend.domain.orders.consumer_group import ConsumerGroupName
from backend.domain.orders.parameter import (
    LONG_MAX,
    BrokerGroupName,
    BrokerGroups,
    ClusterName,
    Parameter,
)
from backend.domain.orders.topic import TopicName
from backend.rules.consumer_group import CREATED_NAME_LENGTH_MAX

QUEUE_ID_MAX: Final = 65_535


@dataclass(frozen=True, slots=True)
class QueueOffset:
    """Name the offset that a group shall go on from in one queue."""

    broker_group_name: BrokerGroupName
    queue_id: Annotated[int, Parameter("Number of the queue.", low=0, high=QUEUE_ID_MAX)]
    offset: Annotated[int, Parameter("New offset of the queue.", low=0, high=LONG_MAX)]


@dataclass(frozen=True, slots=True)
class ResetOffsets:
    """Set a consumer group's offsets in a topic, in all queues or in those named.

    In a queue where the source group never committed an offset, nothing is set.
    """

    cluster_name: ClusterName
    consumer_group_name: ConsumerGroupName
    topic_name: TopicName
    position: Annotated[Position, Parameter("New position of the consumer group.")]
    timestamp_ms: Annotated[
        int | None,
        Parameter(
            "Time of the new position, with the position `time`.",
            only_with=("position", Position.TIME),
            low=0,
            high=LONG_MAX,
        ),
    ] = None
    offset: Annotated[
        int | None,
        Parameter(
            "New offset, with the position `offset`.",
            only_with=("position", Position.OFFSET),
            low=0,
            high=LONG_MAX,
        ),
    ] = None
    offsets: Annotated[
        tuple[QueueOffset, ...],
        Parameter(
            "New offset of each queue, with the position `given`.",
            only_with=("position", Position.GIVEN),
            count_max=100_000,
        ),
    ] = ()
    broker_groups: BrokerGroups = ()
    queue_ids: Annotated[
        tuple[int, ...],
        Parameter(
            "Number of a queue.",
            absence="all queues",
            option="queue",
            low=0,
            high=QUEUE_ID_MAX,
            count_max=1_000,
        ),
    ] = ()
    mode: Annotated[
        ResetMode,
        Parameter(
            "online notifies connected consumers; offline sets the offsets of a group"
            " without consumers; auto chooses between them."
        ),
    ] = ResetMode.AUTO
    source_group: Annotated[
        str | None,
        Parameter(
            "Consumer group to copy offsets from, with the position `group`.",
            only_with=("position", Position.GROUP),
            name_length_max=CREATED_NAME_LENGTH_MAX,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the consumer group."""
        return self.consumer_group_name
