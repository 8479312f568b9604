"""Bodies about the replicas of a broker group under a controller (control-plane.md 1.4-1.11)."""

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.bodies.routes import BrokerMembers


class SyncStateSetBody(Body, frozen=True, kw_only=True):
    """A SyncStateSet and its epoch (1001, 1003, 1004, 1008)."""

    members: list[int] = msgspec.field(name="syncStateSet", default_factory=list)
    epoch: int = msgspec.field(name="syncStateSetEpoch", default=0)


class ElectedBody(Body, frozen=True, kw_only=True):
    """The set after an election, and the group's addresses if there is a new master (1002)."""

    member_group: BrokerMembers | msgspec.UnsetType = msgspec.field(
        name="brokerMemberGroup", default=msgspec.UNSET
    )
    members: list[int] = msgspec.field(name="syncStateSet", default_factory=list)


class ReplicaBody(Body, frozen=True, kw_only=True):
    """One replica, for tools."""

    is_alive: bool = msgspec.field(name="alive")
    address: str = msgspec.field(name="brokerAddress")
    broker_id: int
    broker_name: str


class ReplicasBody(Body, frozen=True, kw_only=True):
    """The master, epochs and replicas of one group, for tools."""

    in_sync: list[ReplicaBody] = msgspec.field(name="inSyncReplicas")
    master_address: str | msgspec.UnsetType = msgspec.UNSET
    master_broker_id: int | msgspec.UnsetType = msgspec.UNSET
    master_epoch: int
    not_in_sync: list[ReplicaBody] = msgspec.field(name="notInSyncReplicas")
    sync_state_set_epoch: int


class SyncStateData(Body, frozen=True, kw_only=True):
    """Groups by name (1006)."""

    groups: dict[str, ReplicasBody] = msgspec.field(name="replicasInfoTable", default_factory=dict)


class EpochBody(Body, frozen=True, kw_only=True):
    """The part of a log that one epoch wrote; the newest part has no end yet (1007)."""

    epoch: int
    start_offset: int
    end_offset: int


class EpochsBody(Body, frozen=True, kw_only=True):
    """The epochs of one broker's log (1007)."""

    broker_id: int
    broker_name: str
    cluster_name: str
    epochs: list[EpochBody] = msgspec.field(name="epochList")
    max_offset: int


class HaConnectionBody(Body, frozen=True, kw_only=True):
    """How one replica follows its master; -1 means not reported yet (907)."""

    address: str = msgspec.field(name="addr")
    distance: int = msgspec.field(name="diff")
    is_in_sync: bool = msgspec.field(name="inSync")
    held_position: int = msgspec.field(name="slaveAckOffset")
    next_position: int = msgspec.field(name="transferFromWhere")
    bytes_per_second: int = msgspec.field(name="transferredByteInSecond")


class HaClientBody(Body, frozen=True, kw_only=True):
    """How this broker follows its master; times are milliseconds since 1970 (907).

    Our brokers also report why a replica does not follow, and what to do about it.
    """

    is_connected: bool = msgspec.field(name="activated", default=False)
    last_read_at_ms: int = msgspec.field(name="lastReadTimestamp", default=0)
    last_write_at_ms: int = msgspec.field(name="lastWriteTimestamp", default=0)
    master_address: str = msgspec.field(name="masterAddr", default="")
    # A master does not report it over this protocol.
    master_flush_offset: int = -1
    max_offset: int = 0
    bytes_per_second: int = msgspec.field(name="transferredByteInSecond", default=0)
    obstacle: str | msgspec.UnsetType = msgspec.UNSET


class HaStatusBody(Body, frozen=True, kw_only=True):
    """A broker's replication, as master or as replica (907)."""

    client: HaClientBody = msgspec.field(name="haClientRuntimeInfo", default_factory=HaClientBody)
    connections: list[HaConnectionBody] = msgspec.field(
        name="haConnectionInfo", default_factory=list
    )
    in_sync_count: int = msgspec.field(name="inSyncSlaveNums", default=0)
    is_master: bool = msgspec.field(name="master")
    max_position: int = msgspec.field(name="masterCommitLogMaxOffset", default=0)
