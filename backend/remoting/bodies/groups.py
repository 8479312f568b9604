"""Bodies about consumer groups, their members and their offsets (remoting.md 3.2, 3.5-3.7)."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.base import Body, DataVersion, MessageQueue
from backend.remoting.integers import Int32, Int64
from backend.remoting.sifting import LeftOut, decode_items, left_out_of
from backend.rules.consumer_group import consumer_group_name_fault, group_fault
from backend.rules.topic import topic_name_fault

HEARTBEAT_TABLES: Final = ("consumerDataSet", "producerDataSet", "subscriptionDataSet")
GROUP_TABLES: Final = ("subscriptionGroupTable", "forbiddenTable")
_Scalar = str | Int64 | float | bool | None


class SubscriptionData(Body, frozen=True, kw_only=True):
    """The subscription of a group to one topic."""

    class_filter_mode: bool = False
    tag_hashes: list[Int32] = msgspec.field(name="codeSet", default_factory=list)
    expression_type: str = "TAG"
    expression: str = msgspec.field(name="subString", default="*")
    version: Int64 = msgspec.field(name="subVersion", default=0)
    tags: list[str] = msgspec.field(name="tagsSet", default_factory=list)
    topic: str = ""

    @property
    def shown(self) -> str:
        """Return the expression for people, with its type unless it consists of tags."""
        if self.expression_type in {"", "TAG"}:
            return self.expression
        return f"{self.expression_type}: {self.expression}"


class ConsumerData(Body, frozen=True, kw_only=True):
    """One consumer group of a client."""

    consume_from_where: str | int = "CONSUME_FROM_LAST_OFFSET"
    consume_type: str | int = "CONSUME_PASSIVELY"
    group_name: str = ""
    message_model: str | int = "CLUSTERING"
    subscriptions: list[SubscriptionData] = msgspec.field(
        name="subscriptionDataSet", default_factory=list
    )
    unit_mode: bool = False


class ProducerData(Body, frozen=True, kw_only=True):
    """One producer group of a client."""

    group_name: str = ""


class HeartbeatData(Body, frozen=True, kw_only=True):
    """The groups of a client, as its heartbeat lists them (34)."""

    client_id: str = msgspec.field(name="clientID", default="")
    consumers: list[ConsumerData] = msgspec.field(name="consumerDataSet", default_factory=list)
    fingerprint: Int32 = msgspec.field(name="heartbeatFingerprint", default=0)
    producers: list[ProducerData] = msgspec.field(name="producerDataSet", default_factory=list)
    without_subscriptions: bool = msgspec.field(name="withoutSub", default=False)


def decode_heartbeat(data: bytes) -> tuple[HeartbeatData, list[LeftOut]]:
    """Decode a heartbeat; invalid groups and subscriptions are left out and named.

    Raises:
        InvalidJson: the document is malformed.
    """
    heartbeat, left_out = decode_items(data, HeartbeatData, *HEARTBEAT_TABLES)
    # Stock does not check the name of a group that only produces.
    consumers = [
        msgspec.structs.replace(one, subscriptions=_sift_subscriptions(one, left_out))
        for one in heartbeat.consumers
        if _is_kept(
            consumer_group_name_fault(one.group_name), "consumerDataSet", one.group_name, left_out
        )
    ]
    return msgspec.structs.replace(heartbeat, consumers=consumers), left_out


def _sift_subscriptions(consumer: ConsumerData, left_out: list[LeftOut]) -> list[SubscriptionData]:
    place = f"subscriptionDataSet of {consumer.group_name}"
    return [
        one
        for one in consumer.subscriptions
        if _is_kept(topic_name_fault(one.topic), place, one.topic, left_out)
    ]


def _is_kept(fault: str | None, place: str, name: str, left_out: list[LeftOut]) -> bool:
    if fault is not None:
        left_out.append(left_out_of((place, name), fault, None))
    return fault is None


class CheckClientBody(Body, frozen=True, kw_only=True):
    """A subscription to check before a consumer starts (46)."""

    client_id: str = ""
    group: str = ""
    subscription: SubscriptionData | None = msgspec.field(name="subscriptionData", default=None)


class LockBody(Body, frozen=True, kw_only=True):
    """Queues that a client wants to lock or unlock (41, 42)."""

    client_id: str = ""
    consumer_group: str = ""
    queues: list[MessageQueue] = msgspec.field(name="mqSet", default_factory=list)
    only_this_broker: bool = False


class LockVoteBody(Body, frozen=True, kw_only=True):
    """Whether a lock is wanted of the receiver alone, as a vote (control-plane.md 5.8)."""

    only_this_broker: bool = False


class LockedBody(Body, frozen=True, kw_only=True):
    """The queues that the client has locked (answer of 41)."""

    queues: list[MessageQueue] = msgspec.field(name="lockOKMQSet", default_factory=list)


class ConsumerIds(Body, frozen=True, kw_only=True):
    """The members of a group (answer of 38)."""

    ids: list[str] = msgspec.field(name="consumerIdList")


class SubscriptionGroupConfig(Body, frozen=True, kw_only=True):
    """The settings of one consumer group."""

    attributes: dict[str, str] = msgspec.field(default_factory=dict)
    broker_id: Int64 = 0
    broadcast_allowed: bool = msgspec.field(name="consumeBroadcastEnable", default=True)
    consume_enabled: bool = msgspec.field(name="consumeEnable", default=True)
    consume_from_min_enable: bool = True
    consume_message_orderly: bool = False
    consume_timeout_minute: Int32 = 15
    name: str = msgspec.field(name="groupName", default="")
    retry_policy: dict[str, _Scalar | dict[str, _Scalar | list[_Scalar]]] = msgspec.field(
        name="groupRetryPolicy", default_factory=lambda: {"type": "CUSTOMIZED"}
    )
    group_sys_flag: Int32 = 0
    notify_members: bool = msgspec.field(name="notifyConsumerIdsChangedEnable", default=True)
    retry_count_max: Int32 = msgspec.field(name="retryMaxTimes", default=16)
    retry_queue_count: Int32 = msgspec.field(name="retryQueueNums", default=1)
    which_broker_when_consume_slowly: Int64 = 1


class SubscriptionGroupTable(Body, frozen=True, kw_only=True):
    """All consumer groups of a broker and their version (201, `subscriptionGroup.json`)."""

    data_version: DataVersion = DataVersion()
    forbidden_table: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    groups: dict[str, SubscriptionGroupConfig] = msgspec.field(
        name="subscriptionGroupTable", default_factory=dict
    )


def sift_groups(
    groups: Mapping[str, SubscriptionGroupConfig],
) -> tuple[dict[str, SubscriptionGroupConfig], list[LeftOut]]:
    """Split the groups of a table into valid groups and groups that are left out."""
    kept: dict[str, SubscriptionGroupConfig] = {}
    left_out: list[LeftOut] = []
    for name, answer in groups.items():
        group = answer if answer.name else msgspec.structs.replace(answer, name=name)
        fault = group_fault(group.name, retry_queue_count=group.retry_queue_count)
        if group.name != name:
            fault = f"groupName is {group.name[:255]!r}"
        if fault is None:
            kept[name] = group
        else:
            left_out.append(left_out_of((GROUP_TABLES[0], name), fault, answer))
    return kept, left_out


def decode_group_table(data: bytes) -> tuple[SubscriptionGroupTable, list[LeftOut]]:
    """Decode a table of consumer groups; invalid groups are left out and named.

    Raises:
        InvalidJson: the document or its version is malformed.
    """
    table, left_out = decode_items(data, SubscriptionGroupTable, *GROUP_TABLES)
    groups, refused = sift_groups(table.groups)
    return msgspec.structs.replace(table, groups=groups), left_out + refused


class ClientConnection(Body, frozen=True, kw_only=True):
    """One client, for tools."""

    client_address: str = msgspec.field(name="clientAddr")
    client_id: str
    language: str
    version: int


class ConsumerConnection(Body, frozen=True, kw_only=True):
    """The online members of a consumer group and their subscriptions (203)."""

    connections: list[ClientConnection] = msgspec.field(name="connectionSet")
    consume_from_where: str
    consume_type: str
    message_model: str
    subscriptions: dict[str, SubscriptionData] = msgspec.field(name="subscriptionTable")


class ProducerConnection(Body, frozen=True, kw_only=True):
    """The online members of a producer group (204)."""

    connections: list[ClientConnection] = msgspec.field(name="connectionSet")


class QueueProgress(Body, frozen=True, kw_only=True):
    """The offsets of a group in one queue.

    `min_offset` is our extension, the offset of the oldest message: stock brokers do not send it,
    and stock tools ignore it.
    """

    broker_offset: int
    consumer_offset: int
    last_timestamp_ms: int = msgspec.field(name="lastTimestamp")
    pull_offset: int
    min_offset: int = -1


class QueueTimeSpan(Body, frozen=True, kw_only=True):
    """The store times of one queue's messages, and of the next message for a group (303).

    Times are of the broker's clock. `consumed_timestamp_ms` is the store time of the last consumed
    message. `delay_ms` is the age of the next message, 0 when there is none. Stock computes the age
    of an expired message from 1970.
    """

    min_timestamp_ms: int = msgspec.field(name="minTimeStamp", default=-1)
    max_timestamp_ms: int = msgspec.field(name="maxTimeStamp", default=-1)
    consumed_timestamp_ms: int = msgspec.field(name="consumeTimeStamp", default=-1)
    delay_ms: int = msgspec.field(name="delayTime", default=0)
    queue: MessageQueue = msgspec.field(name="messageQueue", default_factory=MessageQueue)


class QueueTimeSpans(Body, frozen=True, kw_only=True):
    """The time spans of a topic's queues (answer of 303)."""

    spans: list[QueueTimeSpan] = msgspec.field(name="consumeTimeSpanSet", default_factory=list)


class ProducerInfo(Body, frozen=True, kw_only=True):
    """One client of a producer group (328)."""

    client_id: str = ""
    remote_address: str = msgspec.field(name="remoteIP", default="")
    language: str = ""
    version: int = 0
    heard_at_ms: int = msgspec.field(name="lastUpdateTimestamp", default=0)


class ProducerTable(Body, frozen=True, kw_only=True):
    """All producing clients, by their groups (answer of 328)."""

    groups: dict[str, list[ProducerInfo]] = msgspec.field(name="data", default_factory=dict)


class ConnectedClient(Body, frozen=True, kw_only=True):
    """One client of an agent and its groups (7006); `heard_ms` is the time since its heartbeat."""

    client_id: str
    address: str
    language: str
    version: int
    heard_ms: int
    producer_groups: list[str] = msgspec.field(default_factory=list)
    consumer_groups: list[str] = msgspec.field(default_factory=list)


class ConnectedClients(Body, frozen=True, kw_only=True):
    """The clients of an agent, as many as fit a frame, and the number of all (7006)."""

    total_count: int
    clients: list[ConnectedClient] = msgspec.field(default_factory=list)


class MemberSubscription(Body, frozen=True, kw_only=True):
    """The subscription of one member to one topic (7007)."""

    topic: str
    expression_type: str
    expression: str


class GroupMembership(Body, frozen=True, kw_only=True):
    """One connection of a member, and the subscriptions that the member sent over it (7007)."""

    group: str
    client_id: str
    address: str
    heard_ms: int
    message_model: str
    consume_type: str
    consume_from_where: str
    subscriptions: list[MemberSubscription] = msgspec.field(default_factory=list)


class GroupMemberships(Body, frozen=True, kw_only=True):
    """The members of an agent's groups, as many as fit a frame, and the number of all."""

    total_count: int
    members: list[GroupMembership] = msgspec.field(default_factory=list)


def encode_consume_stats(
    entries: Iterable[tuple[MessageQueue, QueueProgress]], *, read_rate: float = 0.0
) -> bytes:
    """Encode the answer of 208, whose keys are whole objects; the rate is in messages a second."""
    table = java_json.encode_object_map(entries)
    return b'{"consumeTps":%s,"offsetTable":%s}' % (java_json.encode(read_rate), table)


def encode_broker_consume_stats(
    address: str, groups: Iterable[tuple[str, Iterable[bytes]]], *, lag: int, in_flight: int
) -> bytes:
    """Encode the answer of 317: for each group the answer of 208, one for each topic."""
    encoded = b",".join(
        b"{%s:[%s]}" % (java_json.encode(name), b",".join(stats)) for name, stats in groups
    )
    return b'{"brokerAddr":%s,"consumeStatsList":[%s],"totalDiff":%d,"totalInflightDiff":%d}' % (
        java_json.encode(address),
        encoded,
        lag,
        in_flight,
    )
