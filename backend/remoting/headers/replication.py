"""Headers of the requests between brokers of one group (control-plane.md 5.6)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class HaInfoHeader(Header, frozen=True, kw_only=True):
    """A master's replication address for its replica; without one, a request for it (906)."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    master_address: str | None = None


class HaInfoAnswer(Header, frozen=True, kw_only=True):
    """The replication address of a master; empty if the broker is no master (906)."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    master_address: str | None = None
    master_epoch: Int32 | None = None
    """The epoch of the master; stock does not send it."""
    master_min_offset: Int64 | None = None
    """The begin of its log; stock does not send it."""


class HandOverHeader(Header, frozen=True, kw_only=True):
    """The epoch of a master that is about to be replaced; ours (7002)."""

    master_epoch: Int32
