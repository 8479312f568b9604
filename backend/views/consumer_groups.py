"""Show consumer groups, their connected clients and their lag."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.client import version_name
from backend.domain.consumer_group import GroupSettings
from backend.domain.consumer_group_lag import GroupState, LagTotal, QueueKind, QueueLag
from backend.domain.protection import Protection
from backend.services.consumer_group.consumer_group_details import GroupDetail, SeenMember
from backend.services.consumer_group.consumer_groups import ListedGroup, Observation
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    ANSWERED_COUNT,
    ASKED_COUNT,
    BROKER_GROUP_NAME,
    CLIENT_ADDRESS,
    CLIENT_ID,
    CLIENT_LANGUAGE,
    CLIENT_VERSION,
    CLIENT_VERSION_NAME,
    CONSUMED_AT,
    CONSUMER_GROUP,
    EXPIRED_COUNT,
    GROUP_IS_SYSTEM,
    GROUP_LAG,
    GROUP_STATE,
    LAG,
    NEXT_OFFSET,
    OBSERVED_AT,
    PROTECTION,
    QUEUE_ID,
    RETRY_LAG,
    TOPIC_NAME,
    UNKNOWN_BROKERS,
    WAITING_MS,
)
from backend.views.graph_forms import Int64, NotShown, Text, Version, in_graph
from backend.views.instants import reported_instant
from backend.views.observed_pages import ObservedPage
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut

in_graph("ConsumerGroupState")(GroupState)
in_graph("LagQueueKind")(QueueKind)


@in_graph("ConsumerLag")
@dataclass(frozen=True, slots=True)
class LagOut(Copied[LagTotal]):
    """Messages that are left to read, and the age of the oldest."""

    message_count: Annotated[Int64 | None, LAG]
    waiting_ms: Annotated[Int64 | None, WAITING_MS]
    is_complete: Annotated[
        bool, Text("Whether all brokers and offsets are known. If not, the lag can be higher.")
    ]
    expired_count: Annotated[
        Int64 | None,
        Text("Number of messages deleted before the group consumed them. The lag excludes them."),
    ]
    is_applicable: Annotated[
        bool,
        Text(
            "False for a broadcasting group: its members keep their own offsets, so it has no lag."
        ),
    ]


@in_graph("ConsumerGroupSettings")
@dataclass(frozen=True, slots=True)
class GroupSettingsOut:
    """How one broker group serves the consumer group."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    consume_enabled: Annotated[bool, Text("Whether consumers of the group may read.")]
    broadcast_allowed: Annotated[
        bool, Text("Whether each consumer of the group may read all messages.")
    ]
    consume_from_min_enabled: Annotated[
        bool, Text("Whether the group reads a new queue from its oldest message.")
    ]
    is_ordered: Annotated[bool, Text("Whether the group is marked as one that consumes in order.")]
    retry_count_max: Annotated[
        int, Text("Maximum number of retries of a message. The value -1 is the broker's default.")
    ]
    retry_queue_count: Annotated[int, Text("Number of queues of the retry topic.")]
    consume_timeout_minutes: Annotated[
        int, Text("Minutes after which the consumption of a message has failed.")
    ]
    notifies_members: Annotated[
        bool, Text("Whether members are notified when other members join or leave.")
    ]

    @classmethod
    def of(cls, broker_group_name: str, settings: GroupSettings) -> Self:
        """Show the settings at a broker group."""
        return copied(cls, settings, broker_group_name=broker_group_name)


@in_graph("ConsumerGroupMember")
@dataclass(frozen=True, slots=True)
class MemberOut:
    """A client of the group, and the broker groups that it is connected to.

    A member with several subscriptions, models or start positions has connections that differ. A
    RocketMQ broker does not report these values for one member.
    """

    client_id: Annotated[str, CLIENT_ID]
    address: Annotated[str, CLIENT_ADDRESS]
    language: Annotated[str, CLIENT_LANGUAGE]
    version: Annotated[int, CLIENT_VERSION]
    version_name: Annotated[str | None, CLIENT_VERSION_NAME]
    broker_group_names: Annotated[
        list[str], Text("Names of the broker groups that the client is connected to.")
    ]
    addresses: Annotated[
        list[str], Text("Addresses of the brokers that the client is connected to.")
    ]
    subscriptions: Annotated[
        list[str],
        Text(
            "Subscriptions of the client, as `topic (type expression)`. Empty if they are unknown."
        ),
    ]
    message_models: Annotated[
        list[str], Text("Message models of the client: clustering or broadcasting.")
    ]
    consume_types: Annotated[
        list[str], Text("How the client consumes: it pulls, or the library pushes.")
    ]
    starts_from: Annotated[
        list[str], Text("Where the client starts in a queue without a committed offset.")
    ]

    @classmethod
    def of(cls, seen: SeenMember) -> Self:
        """Show a member."""
        return copied(
            cls,
            seen.member,
            version_name=version_name(seen.member.version),
            broker_group_names=list(seen.broker_group_names),
            addresses=list(seen.addresses),
            subscriptions=seen.subscriptions,
            message_models=sorted({one.message_model for one in seen.said}),
            consume_types=sorted({one.consume_type for one in seen.said}),
            starts_from=sorted({one.starts_from for one in seen.said}),
        )


@in_graph("ConsumerSubscription")
@dataclass(frozen=True, slots=True)
class SubscriptionOut:
    """Filter expressions for a topic; several expressions mean that members disagree."""

    topic: Annotated[str, TOPIC_NAME]
    expressions: Annotated[
        list[str],
        Text("Filter expressions of the members. More than one means that members disagree."),
    ]


@in_graph("ConsumerQueue")
@dataclass(frozen=True, slots=True)
class QueueLagOut:
    """Progress of the group in one queue."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    topic: Annotated[str, TOPIC_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    kind: Annotated[
        QueueKind, Text("Whether the queue belongs to a topic, or holds retries of the group.")
    ]
    committed: Annotated[
        Int64 | None, Text("Committed offset of the group. Null if the group never committed one.")
    ]
    begin: Annotated[Int64 | None, Text("Offset of the oldest message. Null if it is unknown.")]
    end: Annotated[Int64, NEXT_OFFSET]
    lag: Annotated[Int64 | None, LAG]
    expired_count: Annotated[Int64 | None, EXPIRED_COUNT]
    ahead_count: Annotated[
        Int64 | None, Text("How far the committed offset is beyond the end of the queue.")
    ]
    waiting_ms: Annotated[Int64 | None, WAITING_MS]
    consumed_at: Annotated[datetime | None, CONSUMED_AT]
    owner: Annotated[
        str | None,
        Text("Id of the client that reads the queue. Null if none does, or if it is unknown."),
    ]

    @classmethod
    def of(cls, queue: QueueLag) -> Self:
        """Show a queue."""
        return copied(cls, queue, consumed_at=reported_instant(queue.consumed_at_ms))


@in_graph("ConsumerGroup")
@dataclass(frozen=True, slots=True)
class NamedGroupOut:
    """A consumer group, and the broker groups that serve it."""

    cluster_name: NotShown[str]
    name: Annotated[str, CONSUMER_GROUP]
    is_system: Annotated[bool, GROUP_IS_SYSTEM]
    broker_group_names: Annotated[
        list[str], Text("Names of the broker groups that serve the consumer group.")
    ]

    @classmethod
    def of(cls, group: ListedGroup, cluster_name: str) -> Self:
        """Show a group of a cluster."""
        return copied(cls, group, cluster_name=cluster_name)


@dataclass(frozen=True, slots=True)
class ListedGroupOut(NamedGroupOut):
    """A consumer group with its connected members and its progress."""

    state: Annotated[GroupState, GROUP_STATE]
    broker_count_told: Annotated[int, ANSWERED_COUNT]
    broker_count_asked: Annotated[int, ASKED_COUNT]
    member_count: Annotated[int, Text("Number of connected clients of the group.")]
    lag: Annotated[LagOut, GROUP_LAG]
    retry_lag: Annotated[LagOut, RETRY_LAG]
    protection: Annotated[ProtectionOut | None, PROTECTION]

    @classmethod
    def observed(
        cls, group: NamedGroupOut, observed: Observation, protection: Protection | None
    ) -> Self:
        """Show a group as the brokers report it."""
        return copied(
            cls,
            group,
            state=observed.state,
            broker_count_told=observed.coverage.answered_count,
            broker_count_asked=observed.coverage.asked_count,
            member_count=len(observed.client_ids),
            lag=LagOut.of(observed.lag),
            retry_lag=LagOut.of(observed.retry_lag),
            protection=ProtectionOut.of(protection),
        )


@in_graph("ConsumerGroups")
@dataclass(frozen=True, slots=True)
class NamedGroupsOut(ObservedPage[NamedGroupOut, UnknownBrokerOut]):
    """One page of consumer groups, and the brokers that did not list their groups."""


@dataclass(frozen=True, slots=True)
class ConsumerGroupsOut(ObservedPage[ListedGroupOut, UnknownBrokerOut]):
    """One page of consumer groups, and the brokers that did not list all of their groups."""


@in_graph("ConsumerGroupDetail")
@dataclass(frozen=True, slots=True)
class ConsumerGroupOut:
    """A consumer group with its members, settings and queues."""

    name: Annotated[str, CONSUMER_GROUP]
    is_system: Annotated[bool, GROUP_IS_SYSTEM]
    state: Annotated[GroupState, GROUP_STATE]
    broker_count_told: Annotated[int, ANSWERED_COUNT]
    broker_count_asked: Annotated[int, ASKED_COUNT]
    models: Annotated[list[str], Text("Message models of the members: clustering or broadcasting.")]
    lag: Annotated[LagOut, GROUP_LAG]
    retry_lag: Annotated[LagOut, RETRY_LAG]
    dead_letter_count: Annotated[
        Int64 | None, Text("Number of dead letters of the group. Null if no broker answered.")
    ]
    is_dead_letter_count_complete: Annotated[
        bool, Text("Whether all brokers answered. If not, there can be more dead letters.")
    ]
    settings: Annotated[
        list[GroupSettingsOut], Text("Settings of the group at each broker group that serves it.")
    ]
    members: Annotated[list[MemberOut], Text("Connected clients of the group.")]
    subscriptions: Annotated[list[SubscriptionOut], Text("Topics that the group reads.")]
    queues: Annotated[list[QueueLagOut], Text("Progress of the group in each queue.")]
    unknown: Annotated[list[UnknownBrokerOut], UNKNOWN_BROKERS]
    version: Annotated[Version, Text("Version of the settings. A change can require it.")]
    observed_at: Annotated[datetime, OBSERVED_AT]
    protection: Annotated[ProtectionOut | None, PROTECTION]

    @classmethod
    def of(cls, found: GroupDetail, protection: Protection | None) -> Self:
        """Show a group."""
        observation = found.observation
        return copied(
            cls,
            found,
            name=observation.name,
            is_system=observation.is_system,
            state=observation.state,
            broker_count_told=observation.coverage.answered_count,
            broker_count_asked=observation.coverage.asked_count,
            lag=LagOut.of(observation.lag),
            retry_lag=LagOut.of(observation.retry_lag),
            settings=[GroupSettingsOut.of(*one) for one in sorted(found.settings.items())],
            members=[MemberOut.of(one) for one in found.members],
            subscriptions=[
                SubscriptionOut(topic, list(expressions))
                for topic, expressions in found.subscriptions.items()
            ],
            queues=[QueueLagOut.of(one) for one in found.queues],
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
            observed_at=observation.observed_at,
            protection=ProtectionOut.of(protection),
        )
