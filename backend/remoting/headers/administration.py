"""Headers of the requests that tools make to brokers (remoting.md 2.8)."""

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class CreateTopicHeader(Header, frozen=True, kw_only=True):
    """The new configuration of a topic (17)."""

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
    """The topic to delete (215); with a field of ours, only if the topic is empty."""

    topic: str
    only_empty: bool = msgspec.field(name="regentOnlyEmpty", default=False)


class DeleteGroupHeader(Header, frozen=True, kw_only=True):
    """The consumer group to delete, if wanted with its offsets and topics (207)."""

    group: str = msgspec.field(name="groupName")
    cleans_offsets: bool = msgspec.field(name="cleanOffset", default=False)


class ResetOffsetHeader(Header, frozen=True, kw_only=True):
    """The new position of a group: a time, or an offset in one queue (222)."""

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
    """The group and the topics of the answer; a list of topics takes precedence over one (208)."""

    consumer_group: str
    topic: str | None = None
    topic_list: str | None = None


class BrokerConsumeStatsHeader(Header, frozen=True, kw_only=True):
    """Whether the answer holds only ordered topics (317)."""

    only_ordered: bool = msgspec.field(name="isOrder", default=False)


class BrokerStatsHeader(Header, frozen=True, kw_only=True):
    """The name and the key of a counter (315)."""

    stats_name: str
    stats_key: str


class ConsumeTimeSpanHeader(Header, frozen=True, kw_only=True):
    """The topic and the group of the answer (303)."""

    topic: str
    group: str


class ConsumerRunningInfoHeader(Header, frozen=True, kw_only=True):
    """The member of a group whose state the broker requests (307)."""

    consumer_group: str
    client_id: str
    jstack_enable: bool = False


class QueryMessageHeader(Header, frozen=True, kw_only=True):
    """The key and the limits of a message search (12)."""

    topic: str
    key: str
    count_max: Int32 = msgspec.field(name="maxNum")
    begin_timestamp: Int64
    end_timestamp: Int64
    index_type: str | None = None


class QueryMessageAnswer(Header, frozen=True, kw_only=True):
    """The position of the key index at the time of the search (12)."""

    index_end_timestamp_ms: Int64 = msgspec.field(name="indexLastUpdateTimestamp")
    index_end_position: Int64 = msgspec.field(name="indexLastUpdatePhyoffset")


class ViewMessageHeader(Header, frozen=True, kw_only=True):
    """The log position of one message (33)."""

    log_position: Int64 = msgspec.field(name="offset")
    topic: str | None = None


class AddBrokerHeader(Header, frozen=True, kw_only=True):
    """The file of the broker to add, on the machine of the container (902)."""

    config_path: str = ""


class RemoveBrokerHeader(Header, frozen=True, kw_only=True):
    """The broker to remove from a container (903)."""

    broker_name: str
    cluster_name: str = msgspec.field(name="brokerClusterName")
    broker_id: Int64
