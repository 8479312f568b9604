"""Show consumer groups: which clients are connected, and how far they are."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.client import version_name
from backend.domain.consumer_group import GroupSettings
from backend.domain.consumer_group_lag import GroupState, LagTotal, QueueKind, QueueLag
from backend.services.consumer_group_details import SeenMember
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph
from backend.views.instants import told_instant

in_graph("ConsumerGroupState")(GroupState)
in_graph("LagQueueKind")(QueueKind)


@in_graph("ConsumerLag")
@dataclass(frozen=True, slots=True)
class LagOut:
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

    @classmethod
    def of(cls, lag: LagTotal) -> Self:
        """Show a lag."""
        return copied(cls, lag)


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
        return copied(cls, queue, consumed_at=told_instant(queue.consumed_at_ms))
