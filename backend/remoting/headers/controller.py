"""Headers of the requests that a controller answers and sends (control-plane.md 1.4-1.16)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64

CALLER_IS_CONTROLLER = -1


class AlterSyncStateSetHeader(Header, frozen=True, kw_only=True):
    """The master, its epoch, and the SyncStateSet that it requests (1001)."""

    broker_name: str
    master_broker_id: Int64
    master_epoch: Int32
    # Ours: the members stay, and only the epoch of the set is raised.
    is_fence: bool | None = None


class AlterSyncStateSetAnswer(Header, frozen=True, kw_only=True):
    """The epoch of the SyncStateSet that was accepted (1001)."""

    new_sync_state_set_epoch: Int32


class ElectMasterHeader(Header, frozen=True, kw_only=True):
    """The candidate of an election: the sender, or the broker that an operator names (1002)."""

    cluster_name: str = ""
    broker_name: str
    broker_id: Int64 = CALLER_IS_CONTROLLER
    designate_elect: bool = False


class MasterHeader(Header, frozen=True, kw_only=True):
    """The master, its address and its epoch (answers of 1002 and 1004, and 1008 itself)."""

    master_broker_id: Int64 | None = None
    master_address: str | None = None
    master_epoch: Int32 | None = None
    sync_state_set_epoch: Int32 | None = None
    # Ours, in 1008 to the new master: its lease, from the send time of the last answered heartbeat.
    lease_ms: Int64 | None = None
    # Ours: the lease policy, and so the acknowledgement that a master needs (D9).
    lease_policy: str | None = None
    # Ours: the newest master epoch that began with an accepted loss (D27).
    loss_epoch: Int32 | None = None
    # Ours: the version of the records of share queues that the master writes.
    protocol_version: Int32 | None = None


class RegisterReplicaHeader(Header, frozen=True, kw_only=True):
    """The present address of a broker that has its id (1003).

    The other fields are ours, and used only if the controller lost the group: the code that the id
    was given for, the end of the log, and the present master. An epoch of 0 means a log without
    epochs; a master 0 means none.
    """

    cluster_name: str
    broker_name: str
    broker_id: Int64
    broker_address: str
    register_check_code: str | None = None
    epoch: Int32 | None = None
    max_offset: Int64 | None = None
    known_master_id: Int64 | None = None
    is_verified: bool | None = None
    protocol_version: Int32 | None = None


class RegisterReplicaAnswer(MasterHeader, frozen=True, kw_only=True):
    """The group of a registered broker, and its master while that is alive (1003)."""

    cluster_name: str
    broker_name: str


class ReplicaInfoHeader(Header, frozen=True, kw_only=True):
    """The group whose master and set are requested (1004)."""

    broker_name: str


class ControllerMetadataAnswer(Header, frozen=True, kw_only=True):
    """The leading controller, for tools and brokers (1005)."""

    group: str
    controller_leader_id: str
    controller_leader_address: str
    is_leader: bool
    peers: str


class CleanBrokerDataHeader(Header, frozen=True, kw_only=True):
    """The replicas to forget: ids separated by semicolons, or all (1011)."""

    cluster_name: str | None = None
    broker_name: str
    broker_controller_ids_to_clean: str = ""
    is_clean_living_broker: bool = False


class NextBrokerIdHeader(Header, frozen=True, kw_only=True):
    """The group in which an id is requested (1012)."""

    cluster_name: str
    broker_name: str


class NextBrokerIdAnswer(Header, frozen=True, kw_only=True):
    """The id that a broker can apply for (1012, and a refused 1013)."""

    cluster_name: str
    broker_name: str
    next_broker_id: Int64 | None = None


class ApplyBrokerIdHeader(Header, frozen=True, kw_only=True):
    """The requested id, and the code that identifies the broker (1013)."""

    cluster_name: str
    broker_name: str
    applied_broker_id: Int64
    register_check_code: str
    # Ours: the newest version of the records of share queues that the broker reads.
    protocol_version: Int32 | None = None


class LeaseAnswer(Header, frozen=True, kw_only=True):
    """The time from the send of the heartbeat in which its sender may act as master; ours (904)."""

    lease_ms: Int64


class ShareLeaseHeader(Header, frozen=True, kw_only=True):
    """The member of a broker group that sends a lease heartbeat; ours (4102).

    `life` is a number that each start of its process changes.
    """

    cluster_name: str
    broker_name: str
    broker_id: Int64
    life: Int64
