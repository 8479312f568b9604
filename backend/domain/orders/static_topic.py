"""Say what can be ordered of static topics and their logical queues."""

from dataclasses import dataclass
from typing import Annotated, Final

from backend.domain.logical_queue.mapping import QUEUE_COUNT_MAX
from backend.domain.logical_queue.segment import OffsetMode
from backend.domain.orders.parameter import (
    BROKER_GROUPS_MAX,
    LONG_MAX,
    BrokerGroupName,
    BrokerGroups,
    ClusterName,
    Parameter,
)
from backend.domain.orders.topic import TopicName

IN_FLIGHT_MAX: Final = 64
DOCUMENT_LENGTH_MAX: Final = 700_000
"""Enough for some two thousand segments; a request body holds 1 MiB."""

InFlightMax = Annotated[
    int,
    Parameter(
        "How many queues move at the same time.", option="in_flight", low=1, high=IN_FLIGHT_MAX
    ),
]
OffsetModeAfterMoves = Annotated[
    OffsetMode,
    Parameter("How the offsets of a queue continue after a move: without a gap, or in blocks."),
]
QueueCount = Annotated[
    int,
    Parameter(
        "Number of logical queues of the topic.", option="queues", low=1, high=QUEUE_COUNT_MAX
    ),
]


@dataclass(frozen=True, slots=True)
class CreateStaticTopic:
    """Create a static topic, with its logical queues spread evenly over broker groups."""

    cluster_name: ClusterName
    topic_name: TopicName
    queue_count: QueueCount
    broker_groups: BrokerGroups = ()
    offset_mode: OffsetModeAfterMoves = OffsetMode.CONTIGUOUS

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


@dataclass(frozen=True, slots=True)
class ConvertTopic:
    """Make an ordinary topic static; its queues stay where they are, and become logical queues."""

    cluster_name: ClusterName
    topic_name: TopicName
    offset_mode: OffsetModeAfterMoves = OffsetMode.CONTIGUOUS

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


@dataclass(frozen=True, slots=True)
class ExpandStaticTopic:
    """Give a static topic more logical queues; the existing ones stay where they are."""

    cluster_name: ClusterName
    topic_name: TopicName
    queue_count: QueueCount
    broker_groups: Annotated[
        tuple[str, ...],
        Parameter(
            "Name of a broker group that also gets new queues.",
            absence="only those that lead a queue of the topic",
            option="broker_group",
            count_max=BROKER_GROUPS_MAX,
        ),
    ] = ()

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


@dataclass(frozen=True, slots=True)
class ShrinkStaticTopic:
    """Take the last logical queues from a static topic, once they are read."""

    cluster_name: ClusterName
    topic_name: TopicName
    queue_count: QueueCount
    waived_groups: Annotated[
        tuple[str, ...],
        Parameter(
            "Name of a consumer group that the removal does not wait for.",
            option="waive",
            length_min=1,
            length_max=300,
            count_max=100,
        ),
    ] = ()
    force: Annotated[
        bool,
        Parameter(
            "Seal the queues although producers are connected: their sends to these queues fail."
        ),
    ] = False
    takes_back: Annotated[
        str | None,
        Parameter("Id of the change to take back.", for_undo=True, length_max=36),
    ] = None

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


@dataclass(frozen=True, slots=True)
class MoveQueues:
    """Move logical queues of a static topic to other broker groups.

    One of `destination`, `leaving`, `onto` and `targets` chooses the moves.
    """

    cluster_name: ClusterName
    topic_name: TopicName
    destination: Annotated[
        str | None,
        Parameter("Name of the broker group that the queues move to.", option="to"),
    ] = None
    queues: Annotated[
        tuple[int, ...],
        Parameter(
            "Number of a logical queue to move to the destination.",
            absence="all that other broker groups lead",
            option="queue",
            low=0,
            high=QUEUE_COUNT_MAX - 1,
            count_max=QUEUE_COUNT_MAX,
        ),
    ] = ()
    leaving: Annotated[
        str | None,
        Parameter("Name of a broker group whose queues all move to the other broker groups."),
    ] = None
    onto: Annotated[
        str | None,
        Parameter("Name of a broker group that gets its even share of the queues."),
    ] = None
    targets: Annotated[
        tuple[str, ...],
        Parameter(
            "Name of a broker group among those that share all queues evenly.",
            option="target",
            count_max=BROKER_GROUPS_MAX,
        ),
    ] = ()
    in_flight_max: InFlightMax = 4
    force: Annotated[
        bool,
        Parameter(
            "Move queues whose broker group can't be asked. Offsets continue after a jump, and"
            " messages may be lost."
        ),
    ] = False
    force_offset: Annotated[
        int | None,
        Parameter(
            "Logical offset where forced queues continue.",
            absence="after the last known offset",
            low=0,
            high=LONG_MAX,
        ),
    ] = None
    takes_back: Annotated[
        str | None,
        Parameter(
            "Id of the change to take back, in place of the queues.",
            for_undo=True,
            length_max=36,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


@dataclass(frozen=True, slots=True)
class ImportStaticTopic:
    """Restore a static topic from a mapping file of RocketMQ's form, or from its brokers.

    A file may also have moves and new queues of a topic that is there. The change goes on at the
    first step that no broker confirms.
    """

    cluster_name: ClusterName
    topic_name: TopicName
    document: Annotated[
        str | None,
        Parameter(
            "Text of the mapping file.",
            absence="the mapping that the brokers have",
            length_max=DOCUMENT_LENGTH_MAX,
        ),
    ] = None
    force: Annotated[
        bool,
        Parameter("Accept a file with an older epoch: the change gets a new epoch."),
    ] = False

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name


@dataclass(frozen=True, slots=True)
class EvacuateBrokerGroup:
    """Move the logical queues of all static topics off a broker group.

    The other broker groups of the cluster take them, except cordoned ones.
    """

    cluster_name: ClusterName
    broker_group_name: BrokerGroupName
    in_flight_max: InFlightMax = 4
    takes_back: Annotated[
        str | None,
        Parameter(
            "Id of the operation whose moves are taken back, in place of other moves.",
            for_undo=True,
            length_max=36,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the broker group."""
        return self.broker_group_name


@dataclass(frozen=True, slots=True)
class DeleteStaticTopic:
    """Delete a static topic on all broker groups of the cluster."""

    cluster_name: ClusterName
    topic_name: TopicName
    purge: Annotated[
        bool, Parameter("Delete the topic even if it holds messages: they are lost.")
    ] = False

    @property
    def target(self) -> str:
        """Name the topic."""
        return self.topic_name
