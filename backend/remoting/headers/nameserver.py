"""Headers of the requests that a name server answers (remoting.md 2.7)."""

import msgspec

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class RouteHeader(Header, frozen=True, kw_only=True):
    """The topic whose route is requested (105)."""

    topic: str
    accept_standard_json_only: bool = False
    mapping_version: Int32 = msgspec.field(name="lqv", default=0)
    """Ours: not 0 if the requester merges the mappings of static topics."""


class RegisterBrokerHeader(Header, frozen=True, kw_only=True):
    """The broker, its addresses, and the encoding of the body (103)."""

    broker_name: str
    broker_address: str = msgspec.field(name="brokerAddr")
    cluster_name: str
    ha_address: str = msgspec.field(name="haServerAddr")
    broker_id: Int64
    heartbeat_timeout_ms: Int64 | None = msgspec.field(name="heartbeatTimeoutMillis", default=None)
    enable_acting_master: bool | None = None
    compressed: bool = False
    body_crc32: Int32 = 0
    # Ours: the items that the broker left out of its files, as `encode_left_out` writes them.
    left_out: str | None = msgspec.field(name="regentLeftOut", default=None)


class RegisterBrokerAnswer(Header, frozen=True, kw_only=True):
    """The master's addresses for a replica, and the static topics whose mapping is outdated."""

    ha_address: str | None = msgspec.field(name="haServerAddr", default=None)
    master_address: str | None = msgspec.field(name="masterAddr", default=None)
    # Ours: JSON of the newest epoch by topic. The broker asks for these mappings.
    newer_epochs: str | None = msgspec.field(name="lqHint", default=None)


class UnregisterBrokerHeader(Header, frozen=True, kw_only=True):
    """Who leaves (104)."""

    broker_name: str
    broker_address: str = msgspec.field(name="brokerAddr")
    cluster_name: str
    broker_id: Int64


class QueryDataVersionHeader(Header, frozen=True, kw_only=True):
    """A broker and its data version (322)."""

    broker_name: str
    broker_address: str = msgspec.field(name="brokerAddr")
    cluster_name: str
    broker_id: Int64


class QueryDataVersionAnswer(Header, frozen=True, kw_only=True):
    """Whether the name server holds another version than the given one."""

    changed: bool


class BrokerHeartbeatHeader(Header, frozen=True, kw_only=True):
    """A heartbeat between registrations (904)."""

    cluster_name: str
    broker_address: str = msgspec.field(name="brokerAddr")
    broker_name: str
    broker_id: Int64 | None = None
    epoch: Int32 | None = None
    max_offset: Int64 | None = None
    confirm_offset: Int64 | None = None
    heartbeat_timeout_ms: Int64 | None = msgspec.field(name="heartbeatTimeoutMills", default=None)
    election_priority: Int32 | None = None
    # Ours: false from an unclean stop until the log is verified (D11).
    is_verified: bool | None = None
    # Ours: whether clients may not write here, so that another broker should be master.
    is_cordoned: bool | None = None
    # Ours: whether this replica only copies, so that no SyncStateSet has to contain it.
    is_learner: bool | None = None
    # Ours: a random number of this process. A log only grows while its process lives.
    process_life: Int64 | None = None
    # Ours: the epoch that wrote the last byte before the confirmed position.
    confirm_epoch: Int32 | None = None
    # Ours: the position at which it would have to truncate its log although confirmed messages
    # follow (D27).
    refused_cut: Int64 | None = None


class BrokerMemberGroupHeader(Header, frozen=True, kw_only=True):
    """The broker group whose members are requested (901)."""

    cluster_name: str
    broker_name: str


class BrokerNameHeader(Header, frozen=True, kw_only=True):
    """One broker group by name alone (205, 327)."""

    broker_name: str


class ClusterHeader(Header, frozen=True, kw_only=True):
    """One cluster (224)."""

    cluster: str


class DeleteRouteHeader(Header, frozen=True, kw_only=True):
    """A topic whose route is deleted (216)."""

    topic: str
    cluster_name: str | None = None


class KeyValueHeader(Header, frozen=True, kw_only=True):
    """One key of the name server's table (101, 102)."""

    namespace: str
    key: str


class PutKeyValueHeader(Header, frozen=True, kw_only=True):
    """One value for the name server's table (100)."""

    namespace: str
    key: str
    value: str


class NamespaceHeader(Header, frozen=True, kw_only=True):
    """One namespace of the name server's table (219)."""

    namespace: str
