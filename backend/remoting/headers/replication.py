"""Headers of what brokers of one group ask each other (control-plane.md 5.6)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


class HaInfoHeader(Header, frozen=True, kw_only=True):
    """A master's replication address for its replica, or none to ask for it (906)."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    master_address: str | None = None


class HaInfoAnswer(Header, frozen=True, kw_only=True):
    """Where a master sends its log; empty of one that is none (906)."""

    master_ha_address: str | None = None
    master_flush_offset: Int64 | None = None
    master_address: str | None = None
    master_epoch: Int32 | None = None
    """Since which epoch it is master; stock does not say."""
    master_min_offset: Int64 | None = None
    """Where its log begins; stock does not say."""


class HandOverHeader(Header, frozen=True, kw_only=True):
    """The epoch whose master is about to be replaced; ours (7002)."""

    master_epoch: Int32
