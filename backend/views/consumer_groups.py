"""Show consumer groups: which clients are connected, and how far they are."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.client import version_name
from backend.domain.consumer_group import GroupSettings
from backend.domain.consumer_group_lag import GroupState, LagTotal, QueueKind, QueueLag
from backend.domain.protection import Protection
from backend.services.consumer_group.consumer_group_details import GroupDetail, SeenMember
from backend.services.consumer_group.consumer_groups import ListedGroup, Observation
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Int64, NotShown, Version, in_graph
from backend.views.instants import reported_instant
from backend.views.observed_pages import ObservedPage
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut

in_graph("ConsumerGroupState")(GroupState)
in_graph("LagQueueKind")(QueueKind)


@in_graph("ConsumerLag")
@dataclass(frozen=True, slots=True)
class LagOut(Copied[LagTotal]):
    """Messages that are left to read, and the age of the oldest; null is unknown.

    `is_complete` is false if a broker or an offset is unknown; the lag can then be higher.
    `expired_count` is the number of messages that were deleted before the group read them; the lag
    does not include them. A broadcasting group has no lag: its members keep their offsets.
    """

    message_count: Int64 | None
    waiting_ms: Int64 | None
    is_complete: bool
    expired_count: Int64 | None
    is_applicable: bool


@in_graph("ConsumerGroupSettings")
@dataclass(frozen=True, slots=True)
class GroupSettingsOut:
    """How one broker group serves the consumer group."""

    group_name: str
    consume_enabled: bool
    broadcast_allowed: bool
    consume_from_min_enabled: bool
    is_ordered: bool
    retry_count_max: int
    retry_queue_count: int
    consume_timeout_minutes: int
    notifies_members: bool

    @classmethod
    def of(cls, group_name: str, settings: GroupSettings) -> Self:
        """Show the settings at a broker group."""
        return copied(cls, settings, group_name=group_name)


@in_graph("ConsumerGroupMember")
@dataclass(frozen=True, slots=True)
class MemberOut:
    """A client of the group, and the broker groups that it is connected to.

    `subscriptions` are those of this member, as `topic (type expression)`, with its model and its
    start position. Several entries are connections that differ. None is unknown: a RocketMQ broker
    reports the last heartbeat of any member.
    """

    client_id: str
    address: str
    language: str
    version: int
    version_name: str | None
    group_names: list[str]
    addresses: list[str]
    subscriptions: list[str]
    message_models: list[str]
    consume_types: list[str]
    starts_from: list[str]

    @classmethod
    def of(cls, seen: SeenMember) -> Self:
        """Show a member."""
        return copied(
            cls,
            seen.member,
            version_name=version_name(seen.member.version),
            group_names=list(seen.group_names),
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

    topic: str
    expressions: list[str]


@in_graph("ConsumerQueue")
@dataclass(frozen=True, slots=True)
class QueueLagOut:
    """Progress of the group in one queue; `committed` is null where it never committed.

    `waiting_ms` is the age of the oldest message that is not consumed, `owner` the client that
    reads the queue; null is unknown, or no owner. `expired_count` is the number of messages
    that were deleted before the group read them. `ahead_count` is how far the offset is beyond the
    end.
    """

    group_name: str
    topic: str
    queue_id: int
    kind: QueueKind
    committed: Int64 | None
    begin: Int64 | None
    end: Int64
    lag: Int64 | None
    expired_count: Int64 | None
    ahead_count: Int64 | None
    waiting_ms: Int64 | None
    consumed_at: datetime | None
    owner: str | None

    @classmethod
    def of(cls, queue: QueueLag) -> Self:
        """Show a queue."""
        return copied(cls, queue, consumed_at=reported_instant(queue.consumed_at_ms))


@in_graph("ConsumerGroup")
@dataclass(frozen=True, slots=True)
class NamedGroupOut:
    """A consumer group, and the broker groups that serve it."""

    cluster_name: NotShown[str]
    name: str
    is_system: bool
    group_names: list[str]

    @classmethod
    def of(cls, group: ListedGroup, cluster_name: str) -> Self:
        """Show a group of a cluster."""
        return copied(cls, group, cluster_name=cluster_name)


@dataclass(frozen=True, slots=True)
class ListedGroupOut(NamedGroupOut):
    """A consumer group with its connected members and its progress.

    `state` comes from the `broker_count_told` brokers that answered, of `broker_count_asked`.
    """

    state: GroupState
    broker_count_told: int
    broker_count_asked: int
    member_count: int
    lag: LagOut
    retry_lag: LagOut
    protection: ProtectionOut | None

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
    """A consumer group with its members, settings and queues.

    `state` and `dead_letter_count` come from the `broker_count_told` brokers that answered, of
    `broker_count_asked`; null means that none answered.
    """

    name: str
    is_system: bool
    state: GroupState
    broker_count_told: int
    broker_count_asked: int
    models: list[str]
    lag: LagOut
    retry_lag: LagOut
    dead_letter_count: Int64 | None
    is_dead_letter_count_complete: bool
    settings: list[GroupSettingsOut]
    members: list[MemberOut]
    subscriptions: list[SubscriptionOut]
    queues: list[QueueLagOut]
    unknown: list[UnknownBrokerOut]
    version: Version
    observed_at: datetime
    protection: ProtectionOut | None

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
