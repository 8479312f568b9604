"""Say what can be ordered of consumer groups."""

from dataclasses import dataclass
from typing import Annotated, Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.orders.parameter import (
    BROKER_GROUPS_MAX,
    BrokerGroupName,
    BrokerGroups,
    ClusterName,
    Parameter,
)
from backend.rules.consumer_group import CREATED_NAME_LENGTH_MAX

ConsumerGroupName = Annotated[
    str,
    Parameter("Name of the consumer group.", name_length_max=CREATED_NAME_LENGTH_MAX),
]
CONSUME: Final = Parameter("Allow consumers of the group to read.", option="consume")
BROADCAST: Final = Parameter(
    "Allow broadcasting: each consumer of the group reads all messages.", option="broadcast"
)
FROM_MIN: Final = Parameter("Read a new queue from its oldest message.", option="consume_from_min")
ORDERED: Final = Parameter("Mark the group as a group that consumes in order.", option="ordered")
RETRIES: Final = Parameter(
    "Maximum number of retries of a message. The value -1 is the broker's default.",
    option="retries",
    low=-1,
    high=10_000,
)
RETRY_QUEUES: Final = Parameter(
    "Number of queues of the group's retry topic.", option="retry_queues", low=0, high=1_000
)
TIMEOUT: Final = Parameter(
    "Minutes after which the consumption of a message has failed.",
    option="timeout_minutes",
    low=1,
    high=1_440,
)
NOTIFIES: Final = Parameter(
    "Notify members when other members join or leave.", option="notify_members"
)
SETTINGS: Final = Parameter(
    "Whole settings by broker group, instead of all other parameters.",
    for_undo=True,
    count_max=BROKER_GROUPS_MAX,
)


@dataclass(frozen=True, slots=True)
class PlacedSettings:
    """Hold how one broker group shall serve a consumer group, whole."""

    broker_group_name: BrokerGroupName
    settings: Annotated[
        GroupSettings, Parameter("Settings of the consumer group on this broker group.")
    ]


@dataclass(frozen=True, slots=True)
class CreateConsumerGroup:
    """Create a consumer group on the broker groups named, or on all of the cluster.

    Instead, `settings` may give each broker group's whole settings; that takes a deletion back.
    """

    cluster_name: ClusterName
    consumer_group_name: ConsumerGroupName
    broker_groups: BrokerGroups = ()
    consume_enabled: Annotated[bool, CONSUME] = True
    broadcast_allowed: Annotated[bool, BROADCAST] = True
    consume_from_min_enabled: Annotated[bool, FROM_MIN] = True
    is_ordered: Annotated[bool, ORDERED] = False
    retry_count_max: Annotated[int, RETRIES] = 16
    retry_queue_count: Annotated[int, RETRY_QUEUES] = 1
    consume_timeout_minutes: Annotated[int, TIMEOUT] = 15
    notifies_members: Annotated[bool, NOTIFIES] = True
    settings: Annotated[tuple[PlacedSettings, ...], SETTINGS] = ()

    @property
    def target(self) -> str:
        """Name the group."""
        return self.consumer_group_name


@dataclass(frozen=True, slots=True)
class ChangeConsumerGroup:
    """Change what is given of a consumer group, on the broker groups named or all that know it.

    Instead, `settings` may give each broker group's whole settings; that takes a change back.
    """

    cluster_name: ClusterName
    consumer_group_name: ConsumerGroupName
    broker_groups: BrokerGroups = ()
    consume_enabled: Annotated[bool | None, CONSUME] = None
    broadcast_allowed: Annotated[bool | None, BROADCAST] = None
    consume_from_min_enabled: Annotated[bool | None, FROM_MIN] = None
    is_ordered: Annotated[bool | None, ORDERED] = None
    retry_count_max: Annotated[int | None, RETRIES] = None
    retry_queue_count: Annotated[int | None, RETRY_QUEUES] = None
    consume_timeout_minutes: Annotated[int | None, TIMEOUT] = None
    notifies_members: Annotated[bool | None, NOTIFIES] = None
    settings: Annotated[tuple[PlacedSettings, ...], SETTINGS] = ()

    @property
    def target(self) -> str:
        """Name the group."""
        return self.consumer_group_name


@dataclass(frozen=True, slots=True)
class DeleteConsumerGroup:
    """Delete a consumer group on the broker groups named, or on all that know it."""

    cluster_name: ClusterName
    consumer_group_name: ConsumerGroupName
    broker_groups: BrokerGroups = ()
    cleans_up: Annotated[
        bool,
        Parameter(
            "Also delete the group's offsets, its retry topic and its dead-letter topic.",
            option="clean",
        ),
    ] = False

    @property
    def target(self) -> str:
        """Name the group."""
        return self.consumer_group_name
