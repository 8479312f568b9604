"""Headers of the requests between brokers of one group (control-plane.md 5.6)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class HaInfoHeader(Header, frozen=True, kw_only=True):
    """A master's replication address for its replica; without one, a request for it (906)."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    master_address: str | None = None
    record_position: Int64 | None = None
    """Ours: where the last record of the replica is, which the master's log should have too."""


class HaInfoAnswer(Header, frozen=True, kw_only=True):
    """The replication address of a master; empty if the broker is no master (906)."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    master_address: str | None = None
    master_epoch: Int32 | None = None
    """The epoch of the master; stock does not send it."""
    master_min_offset: Int64 | None = None
    """The begin of its log; stock does not send it."""
    master_max_offset: Int64 | None = None
    """The end of its log; stock does not send it."""
    master_state_version: Int64 | None = None
    """The version of its committed offsets, by which a replica's own are newer once it has acted;
    stock does not send it."""

    update_version: Int32 | None = None
    """The version of the requests by which a new member fetches older segments (4104); a broker
    that does not send it has none."""

    record_crc: Int64 | None = None
    """The checksum of the record that the replica named, 0 if there is none; only if it named one.
    """

    @property
    def is_ours(self) -> bool:
        """Return whether the master keeps its state in its log, so that replicas need not ask."""
        return self.master_epoch is not None or self.master_state_version is not None


class UpdateFetchHeader(Header, frozen=True, kw_only=True):
    """A part of the log that a new member lacks: log position and bytes; ours (4104)."""

    position: Int64
    size: Int32


class UpdateFetchAnswer(Header, frozen=True, kw_only=True):
    """The checksum (CRC-32) of the part in the body, which is empty if it has expired (4104)."""

    crc: Int64


class LeastIdHeader(Header, frozen=True, kw_only=True):
    """The member of a group with the least id, and the one that left (905)."""

    min_broker_id: Int64 | None = None
    broker_name: str | None = None
    min_broker_addr: str | None = None
    offline_broker_addr: str | None = None
    ha_broker_addr: str | None = None


class OffsetTableHeader(Header, frozen=True, kw_only=True):
    """A request for the committed offsets of a member (43)."""

    replica_id: Int64 | None = None
    """Ours: the id of the replica that copies them; None for others, such as the control plane."""

    serves_next: bool = False
    """Ours: whether the sender serves once it has them. Until then an acting replica takes no
    commits, which the sender would not know."""


class EscapedHeader(Header, frozen=True, kw_only=True):
    """The log position after which the escaped messages of a page begin; ours (7025)."""

    after: Int64 = -1


class HandOverHeader(Header, frozen=True, kw_only=True):
    """The epoch of a master that is about to be replaced; ours (7002)."""

    master_epoch: Int32


class SwitchModeHeader(Header, frozen=True, kw_only=True):
    """The mode that a broker takes with its next start, and its place in the group; ours (7026).

    A trial changes nothing. Without a master's address the broker is the master: it takes over what
    the others did while it was absent. A broker that founds makes its whole log epoch 0.
    """

    mode: str
    broker_id: Int64
    replica_count: Int32
    master_address: str | None = None
    others: str | None = None
    founds: bool = False
    is_trial: bool = False


class SwitchModeAnswer(Header, frozen=True, kw_only=True):
    """The answer to a trial: the present mode, the end of the log, and what is in the way."""

    mode: str
    log_end: Int64
    obstacle: str | None = None
    obstacle_passes: bool | None = None
    """Whether the broker works on the removal of the obstacle, so that the sender waits."""
