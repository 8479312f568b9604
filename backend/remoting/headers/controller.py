"""Headers of the requests that a controller answers and sends (control-plane.md 1.4-1.16)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64

CALLER_IS_CONTROLLER = -1


class AlterSyncStateSetHeader(Header, frozen=True, kw_only=True):
    """Which master, in which epoch, wants another SyncStateSet (1001)."""

    broker_name: str
    master_broker_id: Int64
    master_epoch: Int32
    # Ours: the members stay, and only the set's epoch is raised.
    is_fence: bool | None = None


class AlterSyncStateSetAnswer(Header, frozen=True, kw_only=True):
    """The epoch of the SyncStateSet that was accepted (1001)."""

    new_sync_state_set_epoch: Int32


class ElectMasterHeader(Header, frozen=True, kw_only=True):
    """For whom a master is asked: for the one that asks, or whom an operator wants (1002)."""

    cluster_name: str = ""
    broker_name: str
    broker_id: Int64 = CALLER_IS_CONTROLLER
    designate_elect: bool = False


class MasterHeader(Header, frozen=True, kw_only=True):
    """Who is master, where and since when (answers of 1002 and 1004, and 1008 itself)."""

    master_broker_id: Int64 | None = None
    master_address: str | None = None
    master_epoch: Int32 | None = None
    sync_state_set_epoch: Int32 | None = None
    # Ours, in 1008 to the new master: its lease, from when it sent the last heartbeat answered.
    lease_ms: Int64 | None = None
    # Ours: when a master may be replaced, and so what it needs in order to acknowledge (D9).
    lease_policy: str | None = None
    # Ours: the newest master epoch that began with an accepted loss (D27).
    loss_epoch: Int32 | None = None


class RegisterReplicaHeader(Header, frozen=True, kw_only=True):
    """Where a broker that has its id is reached from now on (1003).

    The rest is ours, and only of use when the controller lost the group: the code that the id was
    given for, how far the log is, and who serves as master; an epoch of 0 is that of a log without
    any, a master 0 is none.
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


class RegisterReplicaAnswer(MasterHeader, frozen=True, kw_only=True):
    """The group that a broker registered with, and its master while that is alive (1003)."""

    cluster_name: str
    broker_name: str


class ReplicaInfoHeader(Header, frozen=True, kw_only=True):
    """The group whose master and set are asked for (1004)."""

    broker_name: str


class ControllerMetadataAnswer(Header, frozen=True, kw_only=True):
    """Which controller leads, as tools and brokers look for it (1005)."""

    group: str
    controller_leader_id: str
    controller_leader_address: str
    is_leader: bool
    peers: str


class CleanBrokerDataHeader(Header, frozen=True, kw_only=True):
    """Which replicas are to be forgotten, by ids with semicolons between, or all (1011)."""

    cluster_name: str | None = None
    broker_name: str
    broker_controller_ids_to_clean: str = ""
    is_clean_living_broker: bool = False


class NextBrokerIdHeader(Header, frozen=True, kw_only=True):
    """The group in which an id is wanted (1012)."""

    cluster_name: str
    broker_name: str


class NextBrokerIdAnswer(Header, frozen=True, kw_only=True):
    """The id that may be applied for (1012, and a refused 1013)."""

    cluster_name: str
    broker_name: str
    next_broker_id: Int64 | None = None


class ApplyBrokerIdHeader(Header, frozen=True, kw_only=True):
    """The id a broker wants and the code that proves who it is (1013)."""

    cluster_name: str
    broker_name: str
    applied_broker_id: Int64
    register_check_code: str


class LeaseAnswer(Header, frozen=True, kw_only=True):
    """How long, from when the heartbeat was sent, its sender may act as master; ours (904)."""

    lease_ms: Int64
