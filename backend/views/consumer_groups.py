"""Show consumer groups: which clients are connected, and how far they are."""

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

    message_count: Annotated[
        Int64 | None,
        Text("Number of messages that the group has not consumed. Null if it is unknown."),
    ]
    waiting_ms: Annotated[
        Int64 | None,
        Text("Age of the oldest unconsumed message in milliseconds. Null if it is unknown."),
    ]
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

    broker_group_name: Annotated[str, Text("Name of the broker group.")]
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

    Several subscriptions, models or start positions are connections that differ. A RocketMQ broker
    does not report those of one member.
    """

    client_id: Annotated[str, Text("Id of the client.")]
    address: Annotated[str, Text("Address of the client.")]
    language: Annotated[str, Text("Language of the client library.")]
    version: Annotated[int, Text("Version of the client library, as RocketMQ numbers it.")]
    version_name: Annotated[
        str | None, Text("Version of the client library in words. Null if the number is unknown.")
    ]
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
    """What a topic is read with; several expressions are members that disagree."""

    topic: Annotated[str, Text("Name of the topic.")]
    expressions: Annotated[
        list[str],
        Text("Filter expressions of the members. More than one means that members disagree."),
    ]


@in_graph("ConsumerQueue")
@dataclass(frozen=True, slots=True)
class QueueLagOut:
    """Progress of the group in one queue."""

    broker_group_name: Annotated[str, Text("Name of the broker group.")]
    topic: Annotated[str, Text("Name of the topic.")]
    queue_id: Annotated[int, Text("Number of the queue in its broker group.")]
    kind: Annotated[
        QueueKind, Text("Whether the queue belongs to a topic, or holds retries of the group.")
    ]
    committed: Annotated[
        Int64 | None, Text("Committed offset of the group. Null if the group never committed one.")
    ]
    begin: Annotated[Int64 | None, Text("Offset of the oldest message. Null if it is unknown.")]
    end: Annotated[Int64, Text("Offset after the newest message.")]
    lag: Annotated[
        Int64 | None,
        Text("Number of messages that the group has not consumed. Null if it is unknown."),
    ]
    expired_count: Annotated[
        Int64 | None, Text("Number of messages deleted before the group consumed them.")
    ]
    ahead_count: Annotated[
        Int64 | None, Text("How far the committed offset is beyond the end of the queue.")
    ]
    waiting_ms: Annotated[
        Int64 | None,
        Text("Age of the oldest unconsumed message in milliseconds. Null if it is unknown."),
    ]
    consumed_at: Annotated[
        datetime | None,
        Text("Time when the last consumed message was stored. Null if it is unknown."),
    ]
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
    name: Annotated[str, Text("Name of the consumer group.")]
    is_system: Annotated[bool, Text("Whether the group belongs to RocketMQ itself.")]
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

    state: Annotated[
        GroupState,
        Text("Whether a client of the group is connected, by the brokers that answered."),
    ]
    broker_count_told: Annotated[int, Text("Number of brokers that answered.")]
    broker_count_asked: Annotated[int, Text("Number of brokers that were asked.")]
    member_count: Annotated[int, Text("Number of connected clients of the group.")]
    lag: Annotated[LagOut, Text("Messages that the group has not consumed.")]
    retry_lag: Annotated[LagOut, Text("Messages that wait for another attempt.")]
    protection: Annotated[
        ProtectionOut | None, Text("Protection from deletion. Null if there is none.")
    ]

    @classmethod
    def observed(
        cls, group: NamedGroupOut, observed: Observation, protection: Protection | None
    ) -> Self:
        """Show a group as the brokers tell it."""
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
    """One page of consumer groups, and the brokers that did not tell theirs."""


@dataclass(frozen=True, slots=True)
class ConsumerGroupsOut(ObservedPage[ListedGroupOut, UnknownBrokerOut]):
    """One page of consumer groups, and the brokers that did not list all of theirs."""


@in_graph("ConsumerGroupDetail")
@dataclass(frozen=True, slots=True)
class ConsumerGroupOut:
    """A consumer group with its members, settings and queues."""

    name: Annotated[str, Text("Name of the consumer group.")]
    is_system: Annotated[bool, Text("Whether the group belongs to RocketMQ itself.")]
    state: Annotated[
        GroupState,
        Text("Whether a client of the group is connected, by the brokers that answered."),
    ]
    broker_count_told: Annotated[int, Text("Number of brokers that answered.")]
    broker_count_asked: Annotated[int, Text("Number of brokers that were asked.")]
    models: Annotated[list[str], Text("Message models of the members: clustering or broadcasting.")]
    lag: Annotated[LagOut, Text("Messages that the group has not consumed.")]
    retry_lag: Annotated[LagOut, Text("Messages that wait for another attempt.")]
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
    unknown: Annotated[
        list[UnknownBrokerOut], Text("Brokers whose answer is missing or incomplete.")
    ]
    version: Annotated[Version, Text("Version of the settings. A change can require it.")]
    observed_at: Annotated[datetime, Text("Time when the brokers were asked.")]
    protection: Annotated[
        ProtectionOut | None, Text("Protection from deletion. Null if there is none.")
    ]

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
