"""Headers of the requests that tools make to brokers (remoting.md 2.8)."""

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class CreateTopicHeader(Header, frozen=True, kw_only=True):
    """The wished configuration of a topic (17)."""

    topic: str
    default_topic: str
    read_queue_count: Int32 = msgspec.field(name="readQueueNums")
    write_queue_count: Int32 = msgspec.field(name="writeQueueNums")
    permissions: Int32 = msgspec.field(name="perm")
    filter_type: str = msgspec.field(name="topicFilterType")
    topic_sys_flag: Int32 = 0
    is_ordered: bool = msgspec.field(name="order")
    attributes: str = ""
    force: bool = False


class TopicHeader(Header, frozen=True, kw_only=True):
    """One topic (202, 215, 351)."""

    topic: str


class DeleteTopicHeader(Header, frozen=True, kw_only=True):
    """The topic that shall go (215); a field of ours has it go only without messages."""

    topic: str
    only_empty: bool = msgspec.field(name="regentOnlyEmpty", default=False)


class DeleteGroupHeader(Header, frozen=True, kw_only=True):
    """The consumer group that shall go, perhaps with all that is kept for it (207)."""

    group: str = msgspec.field(name="groupName")
    cleans_offsets: bool = msgspec.field(name="cleanOffset", default=False)


class ResetOffsetHeader(Header, frozen=True, kw_only=True):
    """Where a group shall go on reading: at a moment, or in one queue at an offset (222)."""

    group: str
    topic: str
    timestamp_ms: Int64 = msgspec.field(name="timestamp")
    is_forced: bool = msgspec.field(name="isForce", default=True)
    queue_id: Int32 = -1
    offset: Int64 | None = None


class GroupHeader(Header, frozen=True, kw_only=True):
    """One consumer group (352)."""

    group: str


class ConsumeStatsHeader(Header, frozen=True, kw_only=True):
    """Whose progress is asked for; a list of topics wins over one topic (208)."""

    consumer_group: str
    topic: str | None = None
    topic_list: str | None = None


class BrokerConsumeStatsHeader(Header, frozen=True, kw_only=True):
    """Whether only ordered topics are asked for (317)."""

    only_ordered: bool = msgspec.field(name="isOrder", default=False)


class BrokerStatsHeader(Header, frozen=True, kw_only=True):
    """What is counted, and of whom (315)."""

    stats_name: str
    stats_key: str


class ConsumeTimeSpanHeader(Header, frozen=True, kw_only=True):
    """The topic and the group that are asked about (303)."""

    topic: str
    group: str


class ConsumerRunningInfoHeader(Header, frozen=True, kw_only=True):
    """The member of a group that a broker shall ask what it does (307)."""

    consumer_group: str
    client_id: str
    jstack_enable: bool = False


class QueryMessageHeader(Header, frozen=True, kw_only=True):
    """Which messages with a key are looked for (12)."""

    topic: str
    key: str
    count_max: Int32 = msgspec.field(name="maxNum")
    begin_timestamp: Int64
    end_timestamp: Int64
    index_type: str | None = None


class QueryMessageAnswer(Header, frozen=True, kw_only=True):
    """How far the key index was when it was asked (12)."""

    index_end_timestamp_ms: Int64 = msgspec.field(name="indexLastUpdateTimestamp")
    index_end_position: Int64 = msgspec.field(name="indexLastUpdatePhyoffset")


class ViewMessageHeader(Header, frozen=True, kw_only=True):
    """The log position of one message (33)."""

    log_position: Int64 = msgspec.field(name="offset")
    topic: str | None = None
