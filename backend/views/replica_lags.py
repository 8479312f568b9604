"""Show how far the replicas of a group are behind their master."""

from dataclasses import dataclass
from typing import Self

from backend.services.controller.replica_lags import GroupLags, ReportedReplicaLag
from backend.views.copying import copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class ReplicaLagOut:
    """How far one broker is, in bytes of its log; null is unknown, and `error` may say why.

    `obstacle` is why a replica does not follow, as it says itself, and what to do.
    `ahead_bytes` is what it holds beyond its master's log, and will cut; it has no lag then.
    `catch_up_ms` is how long what it lacks takes at the rate at which it receives.
    """

    broker_id: Int64
    address: str
    is_master: bool
    is_in_sync: bool
    is_following: bool | None
    max_offset: Int64 | None
    lag_bytes: Int64 | None
    ahead_bytes: Int64 | None
    bytes_per_second: Int64 | None
    catch_up_ms: Int64 | None
    obstacle: str | None
    error: str | None

    @classmethod
    def of(cls, answer: ReportedReplicaLag) -> Self:
        """Show the answer of a broker."""
        position = answer.position
        return copied(
            cls,
            answer,
            is_following=None if position is None else position.is_following,
            max_offset=None if position is None else position.max_offset,
            lag_bytes=answer.lag.lag_bytes,
            ahead_bytes=answer.lag.ahead_bytes,
            bytes_per_second=None if position is None else position.bytes_per_second,
            catch_up_ms=answer.lag.catch_up_ms,
            obstacle=None if position is None else position.obstacle,
        )


@dataclass(frozen=True, slots=True)
class GroupLagsOut:
    """The brokers of a group beside the end of their master's log."""

    master_id: Int64 | None
    master_max_offset: Int64 | None
    replicas: list[ReplicaLagOut]

    @classmethod
    def of(cls, found: GroupLags) -> Self:
        """Show all answers."""
        replicas = [ReplicaLagOut.of(one) for one in found.replicas]
        return cls(found.master_id, found.master_end, replicas)
