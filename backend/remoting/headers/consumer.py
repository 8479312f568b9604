"""Headers of requests that consumers send and answer (remoting.md 2.3, 2.6)."""

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class PullMessageHeader(Header, frozen=True, kw_only=True):
    """A pull from one queue, and how long the broker may hold it."""

    consumer_group: str
    topic: str
    queue_id: Int32
    queue_offset: Int64
    message_count_max: Int32 = msgspec.field(name="maxMsgNums")
    sys_flag: Int32
    commit_offset: Int64
    suspend_timeout_ms: Int64 = msgspec.field(name="suspendTimeoutMillis")
    subscription: str | None = None
    subscription_version: Int64 = msgspec.field(name="subVersion")
    expression_type: str | None = None
    size_max_bytes: Int32 | None = msgspec.field(name="maxMsgBytes", default=None)


class QueryConsumerOffsetHeader(Header, frozen=True, kw_only=True):
    """The group and the queue of a committed offset.

    With `lo=false` id and offset are physical although the topic is static.
    """

    consumer_group: str
    topic: str
    queue_id: Int32
    set_zero_if_not_found: bool = True
    is_logical: bool | None = msgspec.field(name="lo", default=None)


class UpdateConsumerOffsetHeader(Header, frozen=True, kw_only=True):
    """The committed offset of a group in one queue; `lo` as when it is queried."""

    consumer_group: str
    topic: str
    queue_id: Int32 | None = None
    commit_offset: Int64 | None = None
    is_logical: bool | None = msgspec.field(name="lo", default=None)


class QueueHeader(Header, frozen=True, kw_only=True):
    """One queue of a topic, for 30, 31 and 32."""

    topic: str
    queue_id: Int32


class SearchOffsetHeader(Header, frozen=True, kw_only=True):
    """A time to look up in a queue."""

    topic: str
    queue_id: Int32
    timestamp_ms: Int64 = msgspec.field(name="timestamp")
    boundary_type: str = "LOWER"


class SendBackHeader(Header, frozen=True, kw_only=True):
    """A message that its consumer could not process."""

    log_position: Int64 = msgspec.field(name="offset")
    group: str
    delay_level: Int32
    origin_message_id: str | None = msgspec.field(name="originMsgId", default=None)
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: Int32 | None = None


class ConsumerGroupHeader(Header, frozen=True, kw_only=True):
    """A consumer group, for 38, 40 and 203."""

    consumer_group: str


class ProducerGroupHeader(Header, frozen=True, kw_only=True):
    """A producer group, for 204."""

    producer_group: str


class UnregisterClientHeader(Header, frozen=True, kw_only=True):
    """A client that leaves the named groups."""

    client_id: str = msgspec.field(name="clientID")
    producer_group: str | None = None
    consumer_group: str | None = None


class PopMessageHeader(Header, frozen=True, kw_only=True):
    """A request for messages that any consumer of a group may have, each for a limited time."""

    consumer_group: str
    topic: str
    queue_id: Int32
    message_count_max: Int32 = msgspec.field(name="maxMsgNums")
    invisible_ms: Int64 = msgspec.field(name="invisibleTime")
    poll_ms: Int64 = msgspec.field(name="pollTime")
    born_ms: Int64 | None = msgspec.field(name="bornTime", default=None)
    init_mode: Int32 = 0
    expression_type: str | None = msgspec.field(name="expType", default=None)
    expression: str | None = msgspec.field(name="exp", default=None)
    is_ordered: bool | None = msgspec.field(name="order", default=None)
    attempt_id: str | None = None


class PopHandleHeader(Header, frozen=True, kw_only=True):
    """One message that a consumer has, with the handle that proves it."""

    consumer_group: str
    topic: str
    queue_id: Int32
    handle: str = msgspec.field(name="extraInfo")
    offset: Int64


class ChangeInvisibleTimeHeader(PopHandleHeader, frozen=True, kw_only=True):
    """A message that a consumer keeps longer; with 0 it gives the message back.

    `release` is ours: the message is given back, and delivered after the time.
    """

    invisible_ms: Int64 = msgspec.field(name="invisibleTime")
    release: bool | None = None


class ChangedInvisibleTimeHeader(Header, frozen=True, kw_only=True):
    """What the new handle of a message contains."""

    pop_time_ms: Int64 = msgspec.field(name="popTime")
    invisible_ms: Int64 = msgspec.field(name="invisibleTime")
    revive_queue_id: Int32 = msgspec.field(name="reviveQid")


class PeekMessageHeader(Header, frozen=True, kw_only=True):
    """A look at the next messages of a group."""

    consumer_group: str
    topic: str
    queue_id: Int32
    message_count_max: Int32 = msgspec.field(name="maxMsgNums")


class PoppedHeader(Header, frozen=True, kw_only=True):
    """What clients read of an answer with messages, besides those."""

    pop_time_ms: Int64 = msgspec.field(name="popTime", default=0)
    invisible_ms: Int64 = msgspec.field(name="invisibleTime", default=0)
    revive_queue_id: Int32 = msgspec.field(name="reviveQid", default=0)
    rest_count: Int64 = msgspec.field(name="restNum", default=0)


class NotificationHeader(Header, frozen=True, kw_only=True):
    """A question whether a group has messages, which may wait for some."""

    consumer_group: str
    topic: str
    queue_id: Int32
    poll_ms: Int64 = msgspec.field(name="pollTime")
    born_ms: Int64 = msgspec.field(name="bornTime")
    is_ordered: bool | None = msgspec.field(name="order", default=None)


class PollingInfoHeader(Header, frozen=True, kw_only=True):
    """A question how many consumers wait at a queue."""

    consumer_group: str
    topic: str
    queue_id: Int32
