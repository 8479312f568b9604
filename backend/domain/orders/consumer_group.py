"""Say what can be ordered of consumer groups."""

from dataclasses import dataclass
from typing import Annotated, Final

from backend.domain.consumer_group import GroupSettings
from backend.domain.orders.parameter import (
    BROKER_GROUPS_MAX,
    BrokerGroups,
    ClusterName,
    GroupName,
    Parameter,
)
from backend.rules.consumer_group import CREATED_NAME_LENGTH_MAX

ConsumerGroupName = Annotated[
    str,
    Parameter("Name of the consumer group.", name_length_max=CREATED_NAME_LENGTH_MAX),
]
CONSUME: Final = Parameter("Let its consumers read.", option="consume")
BROADCAST: Final = Parameter("Let its consumers read all of them everything.", option="broadcast")
FROM_MIN: Final = Parameter(
    "Let a new queue be read from its oldest message.", option="consume_from_min"
)
ORDERED: Final = Parameter("Mark it as one that consumes in order.", option="ordered")
RETRIES: Final = Parameter(
    "How often a message is tried again; -1 is the broker's default.",
    option="retries",
    low=-1,
    high=10_000,
)
RETRY_QUEUES: Final = Parameter(
    "How many queues its retries have.", option="retry_queues", low=0, high=1_000
)
TIMEOUT: Final = Parameter(
    "After how long a message counts as failed.", option="timeout_minutes", low=1, high=1_440
)
NOTIFIES: Final = Parameter("Tell members when others come or go.", option="notify_members")
SETTINGS: Final = Parameter(
    "The whole settings by broker group, instead of all others.",
    for_undo=True,
    count_max=BROKER_GROUPS_MAX,
)


@dataclass(frozen=True, slots=True)
class PlacedSettings:
    """Hold how one broker group shall serve a consumer group, whole."""

    group_name: GroupName
    settings: Annotated[GroupSettings, Parameter("How it shall serve the group.")]


@dataclass(frozen=True, slots=True)
class CreateConsumerGroup:
    """Create a consumer group on the broker groups named, or on all of the cluster.

    Instead, `settings` may give each broker group's whole settings; that takes a deletion back.
    """

    cluster_name: ClusterName
    group_name: ConsumerGroupName
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
        return self.group_name


@dataclass(frozen=True, slots=True)
class ChangeConsumerGroup:
    """Change what is given of a consumer group, on the broker groups named or all that know it.

    Instead, `settings` may give each broker group's whole settings; that takes a change back.
    """

    cluster_name: ClusterName
    group_name: ConsumerGroupName
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
        return self.group_name


@dataclass(frozen=True, slots=True)
class DeleteConsumerGroup:
    """Delete a consumer group on the broker groups named, or on all that know it."""

    cluster_name: ClusterName
    group_name: ConsumerGroupName
    broker_groups: BrokerGroups = ()
    cleans_up: Annotated[
        bool,
        Parameter(
            "Delete its offsets too, and the topics of its retries and dead letters.",
            option="clean",
        ),
    ] = False

    @property
    def target(self) -> str:
        """Name the group."""
        return self.group_name
