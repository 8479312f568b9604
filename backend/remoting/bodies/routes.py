"""Bodies about routes, clusters and broker groups (remoting.md 3.3, 3.4, 2.7)."""

import msgspec

from backend.remoting.bodies.base import Body


class QueueData(Body, frozen=True, kw_only=True):
    """The layout of a topic on one broker group, for clients."""

    broker_name: str
    permissions: int = msgspec.field(name="perm")
    read_queue_count: int = msgspec.field(name="readQueueNums")
    topic_sys_flag: int = 0
    write_queue_count: int = msgspec.field(name="writeQueueNums")


class BrokerData(Body, frozen=True, kw_only=True):
    """The live members of one broker group; id 0 is the master."""

    addresses: dict[int, str] = msgspec.field(name="brokerAddrs", default_factory=dict)
    broker_name: str
    cluster: str
    enable_acting_master: bool = False


class QueueMappingInfo(Body, frozen=True, kw_only=True):
    """The logical queues of a static topic that one broker group leads (logical-queues.md 2.2)."""

    broker_name: str = msgspec.field(name="bname")
    led: dict[int, int] = msgspec.field(name="currIdMap")
    is_dirty: bool = msgspec.field(name="dirty", default=False)
    epoch: int
    scope: str
    topic: str
    queue_count: int = msgspec.field(name="totalQueues")


class TopicRouteData(Body, frozen=True, kw_only=True, omit_defaults=False):
    """The brokers and queues of a topic (105)."""

    brokers: list[BrokerData] = msgspec.field(name="brokerDatas", default_factory=list)
    filter_server_table: dict[str, list[str]] = msgspec.field(default_factory=dict)
    queues: list[QueueData] = msgspec.field(name="queueDatas", default_factory=list)
    topic_queue_mapping_by_broker: dict[str, QueueMappingInfo] | msgspec.UnsetType = msgspec.UNSET
    order_topic_conf: str | msgspec.UnsetType = msgspec.UNSET


class ClusterInfo(Body, frozen=True, kw_only=True):
    """All broker groups and their clusters (106)."""

    brokers: dict[str, BrokerData] = msgspec.field(name="brokerAddrTable", default_factory=dict)
    clusters: dict[str, list[str]] = msgspec.field(name="clusterAddrTable", default_factory=dict)


class BrokerMembers(Body, frozen=True, kw_only=True):
    """The live members of one broker group, in the spelling of 901."""

    addresses: dict[int, str] = msgspec.field(name="brokerAddrs", default_factory=dict)
    broker_name: str
    cluster: str


class BrokerMemberGroup(Body, frozen=True, kw_only=True):
    """The answer of 901."""

    members: BrokerMembers = msgspec.field(name="brokerMemberGroup")
